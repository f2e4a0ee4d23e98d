/**
 * The journal of a task as a protocol to read: what happened, who did it, and why.
 *
 * Invariants
 * - It only grows: what was read is kept, and only what follows is asked for.
 */
import { useState } from 'react';

import { taskOf } from '../api/events';
import { having } from '../api/operation';
import { Markdown } from '../frame/markdown';
import { Notice } from '../frame/notice';
import { CallPill, isCallState } from '../frame/pill';
import { TaskJournal, type JournalKind, type TaskJournalQuery } from '../operations/generated';
import { moment } from '../strings/moments';
import { useGrowing, useStudio } from '../studio';
import { ToolName } from './now';
import { Data } from './steps';
import { Why } from './why';

type Entries = Extract<NonNullable<TaskJournalQuery['node']>, { journal: unknown }>['journal']['nodes'];
type Entry = Entries[number];

const KINDS: JournalKind[] = [
  'INCOMING_MESSAGE',
  'PLAN',
  'PROMPT',
  'ANSWER',
  'RESULT',
  'QUESTION',
  'STATUS_CHANGE',
  'SYSTEM_EVENT',
];
const PAGE = 100;

export function Journal({ taskId }: { taskId: string }) {
  const { say } = useStudio();
  const { nodes: entries, error, read } = useJournal(taskId);
  const [kind, setKind] = useState<JournalKind | ''>('');
  if (!entries) return <Notice error={error} retry={read} />;
  const shown = kind === '' ? entries : entries.filter((entry) => entry.kind === kind);
  return (
    <>
      <label className="filter">
        {say('show')}
        <select value={kind} onChange={(event) => setKind(event.target.value as JournalKind | '')}>
          <option value="">{say('everything')}</option>
          {KINDS.map((each) => (
            <option key={each} value={each}>
              {say(`journal_${each}`)}
            </option>
          ))}
        </select>
      </label>
      <ol className="journal">
        {shown.map((entry) => (
          <EntryView key={entry.sequence} entry={entry} />
        ))}
      </ol>
      {error && <Notice error={error} retry={read} />}
    </>
  );
}

function EntryView({ entry }: { entry: Entry }) {
  const { say, language } = useStudio();
  const { kind, at, actor, turnNumber, stepNumber, sequence } = entry;
  const callId = callOf(entry.data);
  return (
    <li className={`entry ${kind}`}>
      <p className="by">
        <b>{say(`journal_${kind}`)}</b>{' '}
        <span className="quiet">
          {actor.kind === 'AGENT' ? say('agent') : actor.label}, <time dateTime={at}>{moment(at, language)}</time>
          {turnNumber !== null && stepNumber !== null && `, ${say('turnStep', { turn: turnNumber, step: stepNumber })}`}
          {` · ${sequence}`}
        </span>
      </p>
      <Words entry={entry} />
      <div className="row">
        {callId && <Why callId={callId} />}
        <details>
          <summary>{say('details')}</summary>
          <Data value={entry.data} />
        </details>
      </div>
    </li>
  );
}

function Words({ entry: { kind, text, data } }: { entry: Entry }) {
  if (kind === 'PROMPT' || kind === 'ANSWER' || kind === 'INCOMING_MESSAGE') return <Markdown text={text} />;
  const { tool, state } = (data ?? {}) as { tool?: unknown; state?: unknown };
  if (kind !== 'RESULT' || typeof tool !== 'string' || !isCallState(state)) return <p>{text}</p>;
  return (
    <p>
      <CallPill state={state} /> <ToolName tool={tool} /> {state !== 'DONE' && <span>{text}</span>}
    </p>
  );
}

function callOf(data: unknown): string | null {
  const call = (data as { call?: unknown } | null)?.call;
  return typeof call === 'string' ? call : null;
}

/** The journal grows while one reads; what was read stays. */
function useJournal(taskId: string) {
  return useGrowing(
    TaskJournal,
    { id: taskId, first: PAGE },
    {
      connection: ({ node }) => having(node, 'journal')?.journal,
      concerns: (event) => event.kind === 'JOURNAL_APPENDED' && taskOf(event) === taskId,
    },
  );
}
