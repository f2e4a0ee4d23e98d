/** The works of a workspace: their list, kept up to date by the workspace's events, and a form for a new one. */
import { useEffect, useRef, useState } from 'react';

import { ApiError, type WorkspaceEvent } from './api';
import { Notice } from './notice';
import { useQuery, useStudio } from './studio';

export type WorkKind = 'STORYBOARD' | 'TEXT' | 'FLOW' | 'COLLECTION' | 'ASSET';

/** Kinds that this studio can fill; the others come through the API. */
const CREATABLE = ['STORYBOARD', 'TEXT'] as const;
/** As many works as one page of the API holds. */
const PAGE = 100;

const WORKS = `query Works($id: ID!, $first: Int!, $after: Cursor) {
  workspace(id: $id) {
    eventCursor
    works(first: $first, after: $after) { nodes { id kind title } pageInfo { hasNextPage endCursor } }
  }
}`;
const CREATE = `mutation Create($input: CreateWorkInput!) { createWork(input: $input) { work { id } } }`;

interface Listed {
  id: string;
  kind: WorkKind;
  title: string;
}

interface WorksData {
  workspace: {
    eventCursor: string;
    works: { nodes: Listed[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } };
  } | null;
}

interface Properties {
  workspaceId: string;
  isReadOnly: boolean;
  openId: string | null;
  open: (workId: string) => void;
  /** Is told of every event of the workspace. */
  heard: (event: WorkspaceEvent) => void;
}

export function Works({ workspaceId, isReadOnly, openId, open, heard }: Properties) {
  const { api, say } = useStudio();
  const variables = { id: workspaceId, first: PAGE, after: null };
  const { data, error, reload } = useQuery<WorksData>(api, WORKS, variables);
  // What is shown stays while it is read again.
  const shown = useRef<WorksData['workspace']>(null);
  if (data) shown.current = data.workspace;
  const workspace = shown.current;
  const cursor = workspace?.eventCursor;
  useEvents(workspaceId, cursor, heard, reload);
  if (!workspace) return <Notice error={error} retry={reload} />;
  return (
    <nav aria-label={say('works')} className="works">
      <h2>{say('works')}</h2>
      {workspace.works.nodes.length === 0 && <p className="quiet">{say('noWorks')}</p>}
      <Page works={workspace.works.nodes} openId={openId} open={open} />
      {workspace.works.pageInfo.hasNextPage && (
        <MorePages workspaceId={workspaceId} after={workspace.works.pageInfo.endCursor} openId={openId} open={open} />
      )}
      {!isReadOnly && <NewWork workspaceId={workspaceId} created={open} />}
    </nav>
  );
}

/** Follows the log from where the first list stood; lists are read again where an event says that they changed. */
function useEvents(
  workspaceId: string,
  cursor: string | undefined,
  heard: (event: WorkspaceEvent) => void,
  reload: () => void,
): void {
  const { api } = useStudio();
  const listener = useRef(heard);
  listener.current = heard;
  const start = useRef<string | undefined>(undefined);
  start.current ??= cursor;
  const isReady = start.current !== undefined;
  useEffect(() => {
    if (!isReady) return undefined;
    return api.follow(workspaceId, start.current ?? '', (event) => {
      listener.current(event);
      if (event.kind.startsWith('WORK_') && event.kind !== 'WORK_CHANGED') reload();
    });
  }, [api, workspaceId, isReady, reload]);
}

interface PageProperties {
  works: Listed[];
  openId: string | null;
  open: (workId: string) => void;
}

function Page({ works, openId, open }: PageProperties) {
  const { say } = useStudio();
  return (
    <ul>
      {works.map(({ id, kind, title }) => (
        <li key={id}>
          <button type="button" aria-current={id === openId ? 'page' : undefined} onClick={() => open(id)}>
            <span>{title}</span>
            <span className="quiet">{say(kind)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

interface MoreProperties {
  workspaceId: string;
  after: string | null;
  openId: string | null;
  open: (workId: string) => void;
}

function MorePages({ workspaceId, after, openId, open }: MoreProperties) {
  const { say } = useStudio();
  const [isAsked, setAsked] = useState(false);
  if (!isAsked) {
    return (
      <button type="button" onClick={() => setAsked(true)}>
        {say('more')}
      </button>
    );
  }
  return <NextPage workspaceId={workspaceId} after={after} openId={openId} open={open} />;
}

function NextPage({ workspaceId, after, openId, open }: MoreProperties) {
  const { api } = useStudio();
  const { data, error, reload } = useQuery<WorksData>(api, WORKS, { id: workspaceId, first: PAGE, after });
  if (!data) return <Notice error={error} retry={reload} />;
  const works = data.workspace?.works;
  if (!works) return null;
  return (
    <>
      <Page works={works.nodes} openId={openId} open={open} />
      {works.pageInfo.hasNextPage && (
        <MorePages workspaceId={workspaceId} after={works.pageInfo.endCursor} openId={openId} open={open} />
      )}
    </>
  );
}

function NewWork({ workspaceId, created }: { workspaceId: string; created: (workId: string) => void }) {
  const { api, say } = useStudio();
  const [title, setTitle] = useState('');
  const [kind, setKind] = useState<(typeof CREATABLE)[number]>('STORYBOARD');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const create = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      const data = await api.run<{ createWork: { work: { id: string } } }>(CREATE, {
        input: { workspaceId, kind, title: title.trim() },
      });
      setTitle('');
      created(data.createWork.work.id);
    } catch (reason) {
      setError(reason instanceof ApiError && reason.code === 'UNAVAILABLE' ? say('unavailable') : String(reason));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      className="new-work"
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <h3>{say('newWork')}</h3>
      <label>
        {say('title')}
        <input value={title} onChange={(event) => setTitle(event.target.value)} required maxLength={200} />
      </label>
      <label>
        {say('kind')}
        <select value={kind} onChange={(event) => setKind(CREATABLE.find((each) => each === event.target.value) ?? kind)}>
          {CREATABLE.map((each) => (
            <option key={each} value={each}>
              {say(each)}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" disabled={isBusy || title.trim() === ''}>
        {say('create')}
      </button>
      {error && <p role="alert">{error}</p>}
    </form>
  );
}
