/** One work: live where people type in it, a plain view where this small studio has no editor for its kind. */
import { useEffect } from 'react';

import { Notice } from '../notice';
import type { Word } from '../strings';
import { useQuery, useStudio } from '../studio';
import type { WorkKind } from '../works';
import { AssetView } from './asset_view';
import { Board } from './board';
import { announce, useLive, type ConnectionState } from './live';
import { NodesView } from './nodes_view';
import { PresenceList } from './presence';
import { SharedText } from './shared_text';

const WORK = `query Work($id: ID!) { node(id: $id) { id ... on Work { kind title } } }`;

interface WorkData {
  node: { id: string; kind?: WorkKind; title?: string } | null;
}

interface Properties {
  workId: string;
  isReadOnly: boolean;
  /** Rises with every event of the work. */
  round: number;
}

export function WorkPage({ workId, isReadOnly, round }: Properties) {
  const { api, say } = useStudio();
  const { data, error, reload } = useQuery<WorkData>(api, WORK, { id: workId });
  if (!data) return <Notice error={error} retry={reload} />;
  const { kind, title } = data.node ?? {};
  if (!kind) return <p className="notice">{say('notFound')}</p>;
  return (
    <>
      <h2>
        {title} <span className="quiet">{say(kind)}</span>
      </h2>
      <Content kind={kind} workId={workId} isReadOnly={isReadOnly} round={round} />
    </>
  );
}

function Content({ kind, ...rest }: Properties & { kind: WorkKind }) {
  switch (kind) {
    case 'STORYBOARD':
    case 'TEXT':
      return <LiveWork key={rest.workId} kind={kind} {...rest} />;
    case 'ASSET':
      return <AssetView {...rest} />;
    case 'FLOW':
    case 'COLLECTION':
      return <NodesView kind={kind} {...rest} />;
  }
}

const STATES: Record<ConnectionState, Word> = {
  connecting: 'connecting',
  connected: 'connected',
  disconnected: 'disconnected',
  refused: 'refused',
};

function LiveWork({ kind, workId, isReadOnly }: Properties & { kind: 'STORYBOARD' | 'TEXT' }) {
  const { api, say, viewer } = useStudio();
  const { live, state } = useLive(workId, api.token);
  useEffect(() => {
    if (live) announce(live, viewer.name, null);
  }, [live, viewer.name]);
  const hasContent = live && (state === 'connected' || state === 'disconnected');
  return (
    <>
      <div className="bar">
        <p role="status" className={`state ${state}`}>
          {say(STATES[state])}
        </p>
        {live && <PresenceList live={live} />}
      </div>
      {isReadOnly && <p className="quiet">{say('readOnly')}</p>}
      {hasContent && kind === 'STORYBOARD' && <Board live={live} isReadOnly={isReadOnly} />}
      {hasContent && kind === 'TEXT' && (
        <SharedText
          text={live.document.getText('text')}
          label={say('TEXT')}
          rows={24}
          isReadOnly={isReadOnly}
          className="page"
        />
      )}
    </>
  );
}
