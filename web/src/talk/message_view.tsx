/** One message: who, what, what came with it, where it stands, and what its author can still do about it. */
import { useState } from 'react';

import { ApiError } from '../api/errors';
import { Markdown } from '../frame/markdown';
import { Refusal } from '../frame/notice';
import { TaskPill } from '../frame/pill';
import { linkTo } from '../frame/place';
import { ReplaceMessage, Withdraw, type MessagePartsFragment } from '../operations/generated';
import { moment } from '../strings/moments';
import { useDoing, useRoom, useStudio } from '../studio';
import { WorkChip } from '../work/work_chip';
import { RerouteDialog } from './reroute_dialog';

interface Properties {
  message: MessagePartsFragment;
  /** Whether it says which task it belongs to. */
  namesTask: boolean;
  refresh: () => void;
}

export function MessageView({ message, namesTask, refresh }: Properties) {
  const { viewer, language, say } = useStudio();
  const { author, text, createdAt, attachments } = message;
  const isOwn = author.kind === 'PERSON' && author.user?.id === viewer.id;
  const isGone = message.state === 'WITHDRAWN' || message.state === 'REPLACED';
  return (
    <li className={`message ${isOwn ? 'own' : author.kind === 'AGENT' ? 'agent' : ''} ${isGone ? 'gone' : ''}`}>
      <p className="by">
        <b>{author.kind === 'AGENT' ? say('agent') : author.label}</b>{' '}
        <time dateTime={createdAt} className="quiet">
          {moment(createdAt, language)}
        </time>
      </p>
      {author.kind === 'AGENT' ? <Markdown text={text} /> : <p className="words">{text}</p>}
      {attachments.length > 0 && (
        <p className="attached">
          {attachments.map((work) => (
            <WorkChip key={work.id} work={work} />
          ))}
        </p>
      )}
      {namesTask && <TaskLink message={message} />}
      {author.kind === 'PERSON' && <Standing message={message} isOwn={isOwn} refresh={refresh} />}
    </li>
  );
}

function TaskLink({ message: { task } }: { message: MessagePartsFragment }) {
  const { workspaceId } = useRoom();
  if (!task) return null;
  return (
    <p className="task-link">
      <a href={linkTo(workspaceId, { taskId: task.id })}>
        <span className="clip">{task.title}</span>
      </a>
      <TaskPill status={task.status} />
    </p>
  );
}

function Standing({ message, isOwn, refresh }: { message: MessagePartsFragment; isOwn: boolean; refresh: () => void }) {
  const { say } = useStudio();
  const { isReadOnly } = useRoom();
  const { state, consumedBy, routing } = message;
  const [open, setOpen] = useState<'replace' | 'reroute' | null>(null);
  // Until a step has taken it; the server has the last word.
  const isFree = isOwn && !isReadOnly && ['RECEIVED', 'ROUTING', 'DELIVERED', 'AWAITING_CHOICE', 'UNDELIVERABLE'].includes(state);
  const canMove = isOwn && !isReadOnly && routing !== null && message.task !== null;
  const words =
    state === 'CONSUMED' && consumedBy
      ? say('message_CONSUMED_at', { turn: consumedBy.turnNumber, step: consumedBy.stepNumber })
      : say(`message_${state}`);
  return (
    <>
      <p className="state">
        <span title={routing?.rationale ?? undefined}>{words}</span>
        {routing?.correctedFrom && <span> · {say('movedFrom', { task: routing.correctedFrom.title })}</span>}
        {isFree && <TakeBack message={message} refresh={refresh} />}
        {isFree && (
          <button type="button" className="plain" onClick={() => setOpen('replace')}>
            {say('replace')}
          </button>
        )}
        {canMove && (
          <button type="button" className="plain" onClick={() => setOpen('reroute')}>
            {say('reroute')}
          </button>
        )}
      </p>
      {state === 'UNDELIVERABLE' && routing?.rationale && <p role="alert">{routing.rationale}</p>}
      {open === 'replace' && <Replacement message={message} refresh={refresh} close={() => setOpen(null)} />}
      {open === 'reroute' && <RerouteDialog message={message} refresh={refresh} close={() => setOpen(null)} />}
    </>
  );
}

function TakeBack({ message, refresh }: { message: MessagePartsFragment; refresh: () => void }) {
  const { api, say } = useStudio();
  const doing = useDoing(async () => {
    const { withdrawMessage } = await api.run(Withdraw, { input: { messageId: message.id } });
    refresh();
    if (withdrawMessage.__typename === 'MessageAlreadyConsumed') throw tooLate(say('tooLate'));
  });
  return (
    <>
      <button type="button" className="plain" disabled={doing.isBusy} onClick={() => void doing.run()}>
        {say('withdraw')}
      </button>
      <Refusal error={doing.error} />
    </>
  );
}

function Replacement({ message, refresh, close }: { message: MessagePartsFragment; refresh: () => void; close: () => void }) {
  const { api, say } = useStudio();
  const [text, setText] = useState(message.text);
  const doing = useDoing(async () => {
    const { replaceMessage } = await api.run(ReplaceMessage, { input: { messageId: message.id, text: text.trim() } });
    refresh();
    if (replaceMessage.__typename === 'MessageAlreadyConsumed') throw tooLate(say('tooLate'));
    close();
  });
  return (
    <form
      className="replacement"
      onSubmit={(event) => {
        event.preventDefault();
        void doing.run();
      }}
    >
      <textarea aria-label={say('replace')} rows={2} value={text} onChange={(event) => setText(event.target.value)} autoFocus />
      <div className="row">
        <button type="button" className="plain" onClick={close}>
          {say('cancel')}
        </button>
        <button type="submit" className="primary" disabled={doing.isBusy || text.trim() === ''}>
          {say('replace')}
        </button>
      </div>
      <Refusal error={doing.error} />
    </form>
  );
}

function tooLate(words: string): ApiError {
  return new ApiError('ALREADY_CONSUMED', words);
}
