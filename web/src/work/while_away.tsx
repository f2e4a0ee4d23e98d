/**
 * What others did to a work while a person's page had no connection: said in words when it is back, with what both touched.
 *
 * Invariants
 * - Nothing is lost by meeting: what both typed stands in the work together. This only says where to look.
 */
import { useEffect, useRef, useState } from 'react';
import * as Y from 'yjs';

import { having } from '../api/operation';
import { WorkHistory, type RevisionPartsFragment } from '../operations/generated';
import { moment } from '../strings/moments';
import { useStudio } from '../studio';
import type { ConnectionState, Live } from './live';

const READ = 30;

export interface Meanwhile {
  revisions: RevisionPartsFragment[];
  /** Names of what was changed here and there. */
  both: string[];
}

/** Watches the connection; what happened between two of them, or null. */
export function useWhileAway(workId: string, live: Live | null, state: ConnectionState, version: number) {
  const { api, viewer, say } = useStudio();
  const [meanwhile, setMeanwhile] = useState<Meanwhile | null>(null);
  const away = useRef<{ since: number; touched: Set<string> } | null>(null);
  const latest = useRef(version);
  useEffect(() => {
    if (!away.current) latest.current = version;
  });
  useEffect(() => {
    if (!live || state !== 'disconnected') return undefined;
    const current = away.current ?? { since: latest.current, touched: new Set<string>() };
    away.current = current;
    const note = (events: Y.YEvent<Y.AbstractType<unknown>>[], { local }: Y.Transaction): void => {
      if (local) for (const id of touchedBy(events)) current.touched.add(id);
    };
    const nodes = live.document.getMap('nodes');
    nodes.observeDeep(note);
    return () => nodes.unobserveDeep(note);
  }, [live, state]);
  useEffect(() => {
    const before = away.current;
    if (!live || !before || (state !== 'connected' && state !== 'saving')) return;
    away.current = null;
    const read = async (): Promise<void> => {
      const { node } = await api.run(WorkHistory, { id: workId, first: READ });
      const revisions = (having(node, 'history')?.history.nodes ?? []).filter(
        ({ toVersion, by }) => toVersion > before.since && by.user?.id !== viewer.id,
      );
      const ids = new Set(revisions.flatMap(({ nodeIds }) => nodeIds));
      const both = [...before.touched].filter((id) => ids.has(id)).map((id) => nameOf(live.document, id) || say('removedPart'));
      if (revisions.length > 0) setMeanwhile({ revisions, both });
    };
    // What can not be read now is in the history.
    read().catch(() => undefined);
  }, [api, viewer.id, live, state, workId, say]);
  return { meanwhile, dismiss: () => setMeanwhile(null) };
}

/** The nodes that events are about. */
export function touchedBy(events: readonly Y.YEvent<Y.AbstractType<unknown>>[]): string[] {
  return events.flatMap(({ path, keys }) => (path.length > 0 ? [String(path[0])] : [...keys.keys()]));
}

function nameOf(document: Y.Doc, id: string): string {
  const node = document.getMap('nodes').get(id);
  const title = node instanceof Y.Map ? node.get('title') : null;
  return title instanceof Y.Text || typeof title === 'string' ? title.toString() : '';
}

export function WhileAway({ meanwhile: { revisions, both }, dismiss, look }: { meanwhile: Meanwhile; dismiss: () => void; look: () => void }) {
  const { say, language } = useStudio();
  return (
    <section className="while-away" role="status" aria-label={say('whileAway')}>
      <h2>{say('whileAway')}</h2>
      <ul>
        {revisions.map(({ by, at, summary, toVersion }) => (
          <li key={toVersion}>
            <b>{by.kind === 'AGENT' ? say('agent') : by.label}</b>: {summary}{' '}
            <time className="quiet" dateTime={at}>
              {moment(at, language)}
            </time>
          </li>
        ))}
      </ul>
      {both.length > 0 && <p>{say('bothChanged', { names: both.join(', ') })}</p>}
      <div className="row">
        <button type="button" onClick={look}>
          {say('history')}
        </button>
        <button type="button" className="plain" onClick={dismiss}>
          {say('understood')}
        </button>
      </div>
    </section>
  );
}
