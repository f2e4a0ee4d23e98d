/** One memory: its words, whom they are about, since when, the sentence they came from, what held before; and what can be done. */
import { useContext, useEffect, useRef, useState, type ReactNode } from 'react';

import { Refusal } from '../frame/notice';
import { linkTo } from '../frame/place';
import { Correct, Rescope, UndoCorrection, type MemoryScope } from '../operations/generated';
import { day, moment } from '../strings/moments';
import { useDoing, useRoom, useStudio } from '../studio';
import { ForgetContext } from './forget_dialog';
import { canUndo, cutAround, shownVersion, type Evidence, type Memory, type Version } from './reach';

/** As much as a memory may say. */
export const LONGEST = 1_000;
/** As much of a message as is shown around the words that were named. */
const AROUND = 160;

export function MemoryCard({ memory }: { memory: Memory }) {
  const { say, language } = useStudio();
  const { isReadOnly } = useRoom();
  const version = shownVersion(memory);
  const words = version?.content ?? null;
  const holds = memory.state === 'ACTIVE';
  return (
    <li className={`memory ${memory.state}`}>
      <article aria-label={words ?? say('memory_FORGOTTEN')}>
        <p className="memory-facts">
          <span className="tag">{say(`memoryKind_${memory.kind}`)}</span>
          <span className={`tag scope ${memory.scope}`}>
            <AboutWhom memory={memory} />
          </span>
          <span>{say(`basis_${memory.basis}`)}</span>
          {version?.validFrom && (
            <span>
              {say('since')} <time dateTime={version.validFrom}>{day(version.validFrom, language)}</time>
            </span>
          )}
          {!holds && <span className="tag rests">{say(`memory_${memory.state}`)}</span>}
          {memory.inProfile && <span title={say('inProfileHint')}>{say('inProfile')}</span>}
        </p>
        {holds && !isReadOnly ? (
          <Content memory={memory} words={words ?? ''}>
            {version && <Sources evidence={version.evidence} />}
          </Content>
        ) : (
          <>
            <Words words={words} />
            {version && <Sources evidence={version.evidence} />}
          </>
        )}
        <Earlier memory={memory} />
      </article>
    </li>
  );
}

function Words({ words }: { words: string | null }) {
  const { say } = useStudio();
  return words === null ? <p className="memory-words gone">{say('wordsGone')}</p> : <p className="memory-words">{words}</p>;
}

function AboutWhom({ memory }: { memory: Memory }) {
  const { say } = useStudio();
  const { workspaceId } = useRoom();
  const task = memory.scope === 'TASK' ? taskOf(memory) : null;
  if (!task) return say(`scope_${memory.scope}`);
  return (
    <>
      {say('scope_TASK')}: <a href={linkTo(workspaceId, { taskId: task.id })}>{task.title}</a>
    </>
  );
}

function taskOf({ versions }: Memory): { id: string; title: string } | null {
  return versions.flatMap(({ evidence }) => evidence.map(({ message }) => message.task)).find((task) => task !== null) ?? null;
}

/** The words, and what a person can do about them. */
function Content({ memory, words, children }: { memory: Memory; words: string; children: ReactNode }) {
  const { api, say } = useStudio();
  const [text, setText] = useState<string | null>(null);
  const forget = useContext(ForgetContext);
  const [wasCorrected, setCorrected] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(false);
  useEffect(() => {
    // Whoever closes the form goes on from where it was opened.
    if (wasOpen.current && text === null) opener.current?.focus();
    wasOpen.current = text !== null;
  }, [text]);
  const correcting = useDoing(async (content: string) => {
    if (content !== words) await api.run(Correct, { input: { memoryId: memory.id, content } });
    setCorrected(content !== words);
    setText(null);
  });
  const undoing = useDoing(async () => {
    await api.run(UndoCorrection, { input: { memoryId: memory.id } });
    setCorrected(false);
  });
  const scoping = useDoing(async (scope: MemoryScope) => {
    await api.run(Rescope, { input: { memoryId: memory.id, scope } });
  });
  const scopes: MemoryScope[] = taskOf(memory) ? ['PERSON', 'WORKSPACE', 'TASK'] : ['PERSON', 'WORKSPACE'];
  if (!scopes.includes(memory.scope)) scopes.push(memory.scope);
  return (
    <>
      {text === null ? (
        <Words words={words} />
      ) : (
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            void correcting.run(text.trim());
          }}
        >
          <textarea
            aria-label={say('correct')}
            rows={2}
            maxLength={LONGEST}
            value={text}
            autoFocus
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => event.key === 'Escape' && setText(null)}
          />
          <p className="quiet">{say('correctHint')}</p>
          <div className="row">
            <button type="submit" className="primary" disabled={correcting.isBusy || text.trim() === ''}>
              {say('save')}
            </button>
            <button type="button" className="plain" onClick={() => setText(null)}>
              {say('cancel')}
            </button>
          </div>
          <Refusal error={correcting.error} />
        </form>
      )}
      {children}
      {wasCorrected && (
        <p className="done" role="status">
          {say('corrected')}
        </p>
      )}
      {text === null && (
        <div className="memory-actions">
          <button ref={opener} type="button" className="plain" onClick={() => setText(words)}>
            {say('correct')}
          </button>
          {canUndo(memory) && (
            <button type="button" className="plain" disabled={undoing.isBusy} title={say('undoHint')} onClick={() => void undoing.run()}>
              {say('undoCorrection')}
            </button>
          )}
          <label className="inline">
            {say('reach')}
            <select value={memory.scope} disabled={scoping.isBusy} onChange={(event) => void scoping.run(event.target.value as MemoryScope)}>
              {scopes.map((scope) => (
                <option key={scope} value={scope}>
                  {say(`scope_${scope}`)}
                </option>
              ))}
            </select>
          </label>
          <button type="button" className="plain danger" onClick={() => forget(memory)}>
            {say('forget')}
          </button>
        </div>
      )}
      <Refusal error={undoing.error ?? scoping.error} />
    </>
  );
}

/** The messages that the words came from, with the sentence itself marked. */
function Sources({ evidence }: { evidence: readonly Evidence[] }) {
  const { say } = useStudio();
  if (evidence.length === 0) return <p className="quiet">{say('noSource')}</p>;
  return (
    <ul className="sources" aria-label={say('cameFrom')}>
      {evidence.map(({ message, role, quote, usable }) => (
        <li key={`${message.id} ${role}`}>
          <Sentence text={message.text} quote={quote} isUsable={usable} />
          <Origin message={message} role={role} />
        </li>
      ))}
    </ul>
  );
}

export function Sentence({ text, quote, isUsable }: { text: string; quote: string | null; isUsable: boolean }) {
  const pieces = cutAround(text, quote);
  const [before, words, after] = pieces ?? ['', quote ?? text, ''];
  return (
    <blockquote className={isUsable ? '' : 'gone'}>
      {before.length > AROUND ? `…${before.slice(-AROUND)}` : before}
      {pieces && (before || after) ? <mark>{words}</mark> : words}
      {after.length > AROUND ? `${after.slice(0, AROUND)}…` : after}
    </blockquote>
  );
}

function Origin({ message, role }: Pick<Evidence, 'message' | 'role'>) {
  const { say, language, viewer } = useStudio();
  const { workspaceId } = useRoom();
  const { author, createdAt, task } = message;
  return (
    <p className="quiet">
      {author.user?.id === viewer.id ? say('youSaid') : author.label}, <time dateTime={createdAt}>{moment(createdAt, language)}</time>
      {', '}
      <a href={linkTo(workspaceId, task ? { taskId: task.id } : {})}>{task ? task.title : say('conversation')}</a>
      {role === 'CONFIRM' && ` · ${say('evidence_CONFIRM')}`}
    </p>
  );
}

/** What held before, with the time in which it did. */
function Earlier({ memory }: { memory: Memory }) {
  const { say } = useStudio();
  const shown = shownVersion(memory)?.version;
  const others = memory.versions.filter(({ version }) => version !== shown).reverse();
  if (others.length === 0) return null;
  return (
    <details className="earlier">
      <summary>{say('heldBefore', { count: others.length })}</summary>
      <ol reversed>
        {others.map((version) => (
          <EarlierVersion key={version.version} version={version} />
        ))}
      </ol>
    </details>
  );
}

function EarlierVersion({ version }: { version: Version }) {
  const { say, language } = useStudio();
  const { content, validFrom, validTo, state, evidence } = version;
  return (
    <li>
      <p className={content === null ? 'gone' : ''}>{content ?? say('wordsGone')}</p>
      <p className="quiet">
        {say(`memory_${state}`)}
        {validFrom && ` · ${day(validFrom, language)}`}
        {validTo && ` – ${day(validTo, language)}`}
      </p>
      {evidence.length > 0 && content !== null && <Sources evidence={evidence} />}
    </li>
  );
}
