/**
 * The journal of a task as a protocol to read: what happened, who did it, and why.
 *
 * Invariants
 * - It only grows: what was read is kept, and only what follows is asked for.
 */
import { useCallback, useEffect, useRef, useState } from 'react';

import { taskOf } from '../api/events';
import { asApiError, type ApiError } from '../api/errors';
import { Markdown } from '../frame/markdown';
import { Notice } from '../frame/notice';
import { CallPill, isCallState } from '../frame/pill';
import { TaskJournal, type JournalKind, type TaskJournalQuery } from '../operations/generated';
import { moment } from '../strings/moments';
import { useEvents, useStudio } from '../studio';
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
  const { entries, error, read } = useJournal(taskId);
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

interface Read {
  entries: Entries | null;
  error: ApiError | null;
  read: () => void;
}

function useJournal(taskId: string): Read {
  const { api } = useStudio();
  const [entries, setEntries] = useState<Entries | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const place = useRef({ after: null as string | null, isReading: false, isStale: false });
  const read = useCallback(() => {
    const at = place.current;
    if (at.isReading) {
      at.isStale = true;
      return;
    }
    at.isReading = true;
    const run = async (): Promise<void> => {
      do {
        at.isStale = false;
        const { node } = await api.run(TaskJournal, { id: taskId, first: PAGE, after: at.after });
        if (!node || !('journal' in node)) return;
        const { nodes, pageInfo } = node.journal;
        at.after = pageInfo.endCursor ?? at.after;
        at.isStale ||= pageInfo.hasNextPage;
        setEntries((before) => [...(before ?? []), ...nodes]);
      } while (at.isStale);
    };
    run()
      .then(() => setError(null), (reason: unknown) => setError(asApiError(reason)))
      .finally(() => (at.isReading = false));
  }, [api, taskId]);
  useEffect(read, [read]);
  useEvents((event) => {
    if (event.kind === 'JOURNAL_APPENDED' && taskOf(event) === taskId) read();
  });
  return { entries, error, read };
}
