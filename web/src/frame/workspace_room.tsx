/** One workspace: its events, the side with what there is, and the page that is open. */
import { lazy, Suspense, useEffect, useMemo, useState } from 'react';

import { EventHub } from '../api/events';
import type { ViewerHomeQuery } from '../operations/generated';
import type { Language } from '../strings';
import { RoomContext, useStudio, type Room } from '../studio';
import { MainThread } from '../talk/main_thread';
import { TaskPage } from '../tasks/task_page';
import { TasksPage } from '../tasks/tasks_page';
import { WorksPage } from '../work/works_page';
import { Notice } from './notice';
import type { Place } from './place';
import { Side } from './side';

const WorkPage = lazy(() => import('../work/work_page').then(({ WorkPage }) => ({ default: WorkPage })));
const WorkspacePage = lazy(() => import('../people/workspace_page').then(({ WorkspacePage }) => ({ default: WorkspacePage })));
const MemoryPage = lazy(() => import('../memory/memory_page').then(({ MemoryPage }) => ({ default: MemoryPage })));

export type WorkspaceLine = ViewerHomeQuery['viewer']['workspaces']['nodes'][number];

interface Properties {
  workspace: WorkspaceLine;
  workspaces: WorkspaceLine[];
  place: Place;
  go: (hash: string) => void;
  setLanguage: (language: Language) => void;
  signOut: () => void;
  /** Asks again who the person is and what they are members of. */
  reread: () => void;
}

export function WorkspaceRoom({ workspace, workspaces, place, go, setLanguage, signOut, reread }: Properties) {
  const { api, say } = useStudio();
  const { id, viewerRole } = workspace;
  const events = useMemo(() => new EventHub(api, id), [api, id]);
  const [isFollowed, setFollowed] = useState(false);
  useEffect(() => {
    void events.open().then(() => setFollowed(true));
    return () => events.close();
  }, [events]);
  const room = useMemo<Room>(
    () => ({ workspaceId: id, workspaceName: workspace.name, role: viewerRole, isReadOnly: viewerRole === 'VIEWER', events }),
    [id, workspace.name, viewerRole, events],
  );
  const [isOpen, setOpen] = useState(false);
  const hash = JSON.stringify(place);
  useEffect(() => setOpen(false), [hash]);
  useTitle(workspace.name);
  // Nothing is asked before it is known from where on events are told.
  if (!isFollowed) return <Notice error={null} retry={reread} />;
  return (
    <RoomContext value={room}>
      <a className="skip" href="#main" onClick={(event) => (event.preventDefault(), document.getElementById('main')?.focus())}>
        {say('skipToContent')}
      </a>
      <div className={isOpen ? 'studio side-open' : 'studio'}>
        <header className="phone-top">
          <button type="button" aria-expanded={isOpen} aria-controls="side" onClick={() => setOpen(!isOpen)}>
            ☰ {say('menu')}
          </button>
          <span>{workspace.name}</span>
        </header>
        <Side
          workspaces={workspaces}
          place={{ ...place, workspaceId: id }}
          go={go}
          setLanguage={setLanguage}
          signOut={signOut}
        />
        <main id="main" tabIndex={-1} className={place.taskId && place.workId ? 'beside' : ''}>
          <Suspense fallback={<Notice error={null} retry={reread} />}>
            <Open place={place} go={go} reread={reread} />
          </Suspense>
        </main>
      </div>
    </RoomContext>
  );
}

function Open({ place, go, reread }: { place: Place; go: (hash: string) => void; reread: () => void }) {
  const { taskId, workId, page } = place;
  if (taskId && workId) {
    return (
      <>
        <TaskPage key={taskId} taskId={taskId} workId={workId} go={go} />
        <WorkPage key={workId} workId={workId} besideTaskId={taskId} go={go} />
      </>
    );
  }
  if (taskId) return <TaskPage key={taskId} taskId={taskId} workId={null} go={go} />;
  if (workId) return <WorkPage key={workId} workId={workId} besideTaskId={null} go={go} />;
  switch (page) {
    case 'talk':
      return <MainThread go={go} />;
    case 'tasks':
      return <TasksPage go={go} />;
    case 'works':
      return <WorksPage go={go} />;
    case 'memory':
      return <MemoryPage memoryId={place.memoryId} />;
    default:
      return <WorkspacePage page={page} go={go} reread={reread} />;
  }
}

export function NoWorkspace({ signOut }: { signOut: () => void }) {
  const { say } = useStudio();
  return (
    <main className="sign-in">
      <h1>Atelier</h1>
      <p>{say('noWorkspaces')}</p>
      <button type="button" onClick={signOut}>
        {say('signOut')}
      </button>
    </main>
  );
}

function useTitle(name: string): void {
  useEffect(() => {
    document.title = `${name} · Atelier`;
  }, [name]);
}
