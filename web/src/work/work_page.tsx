/** One work: its title, who is there, its content live, its history, and a word to the agent about it. */
import { lazy, Suspense, useEffect, useState } from 'react';

import { having } from '../api/operation';
import { Notice, Refusal } from '../frame/notice';
import { linkTo } from '../frame/place';
import { DeleteWork, RenameWork, RestoreWork, WorkHead, type WorkHeadQuery, type WorkKind } from '../operations/generated';
import type { Word } from '../strings';
import { useDoing, useLiveQuery, useRoom, useStudio } from '../studio';
import { AskAbout } from './ask_about';
import { AssetView } from './asset_view';
import { Board } from './board';
import { History } from './history';
import { announce, useLive, type ConnectionState } from './live';
import { PresenceList } from './presence';
import { ITEMS, SHOTS } from './storyboard';
import { useWhileAway, WhileAway } from './while_away';

const FlowCanvas = lazy(() => import('./flow_canvas').then(({ FlowCanvas }) => ({ default: FlowCanvas })));
const TextEditor = lazy(() => import('./text_editor').then(({ TextEditor }) => ({ default: TextEditor })));

type Head = Extract<NonNullable<WorkHeadQuery['node']>, { linkedTasks: unknown }>;

interface Properties {
  workId: string;
  /** The task beside which it is open. */
  besideTaskId: string | null;
  go: (hash: string) => void;
}

export function WorkPage({ workId, besideTaskId, go }: Properties) {
  const { say } = useStudio();
  const { workspaceId, isReadOnly } = useRoom();
  const { data, error, refresh } = useLiveQuery(WorkHead, { id: workId }, ({ subject }) => subject?.id === workId);
  const [open, setOpen] = useState<'history' | 'ask' | null>(null);
  if (!data) return <Notice error={error} retry={refresh} />;
  const head = having(data.node, 'linkedTasks');
  if (!head) return <p className="notice">{say('notFound')}</p>;
  const toggle = (which: 'history' | 'ask'): void => setOpen(open === which ? null : which);
  return (
    <section className="work-page" aria-label={head.title}>
      <header className="work-head">
        <div>
          <Title head={head} refresh={refresh} />
          <p className="quiet">
            {say(head.kind)} · {say('version', { version: head.version })}
            {head.linkedTasks.filter(({ id }) => id !== besideTaskId).map((task) => (
              <span key={task.id}>
                {' · '}
                <a href={linkTo(workspaceId, { taskId: task.id, workId })}>{task.title}</a>
              </span>
            ))}
          </p>
        </div>
        <div className="row">
          {!isReadOnly && (
            <button type="button" aria-expanded={open === 'ask'} onClick={() => toggle('ask')}>
              {say('askAbout')}
            </button>
          )}
          <button type="button" aria-expanded={open === 'history'} onClick={() => toggle('history')}>
            {say('history')}
          </button>
          {!isReadOnly && <BinButton head={head} refresh={refresh} />}
          {besideTaskId && (
            <button type="button" className="plain" aria-label={say('close')} onClick={() => go(linkTo(workspaceId, { taskId: besideTaskId }))}>
              ✕
            </button>
          )}
        </div>
      </header>
      {head.deletedAt && <p className="notice">{say('inBin')}</p>}
      {open === 'ask' && <AskAbout workId={workId} close={() => setOpen(null)} go={go} />}
      <div className={open === 'history' ? 'work-body with-history' : 'work-body'}>
        <div className="work-content">
          {head.kind === 'ASSET' ? <AssetView workId={workId} /> : <LiveWork key={workId} kind={head.kind} workId={workId} version={head.version} look={() => setOpen('history')} />}
        </div>
        {open === 'history' && <History workId={workId} kind={head.kind} version={head.version} />}
      </div>
    </section>
  );
}

function Title({ head, refresh }: { head: Head; refresh: () => void }) {
  const { api, say } = useStudio();
  const { isReadOnly } = useRoom();
  const [text, setText] = useState<string | null>(null);
  const doing = useDoing(async (title: string) => {
    if (title !== '' && title !== head.title) await api.run(RenameWork, { input: { workId: head.id, title } });
    refresh();
    setText(null);
  });
  if (text === null) {
    return (
      <h1>
        {head.title}{' '}
        {!isReadOnly && (
          <button type="button" className="plain small" aria-label={say('rename')} onClick={() => setText(head.title)}>
            ✎
          </button>
        )}
      </h1>
    );
  }
  return (
    <form
      className="row"
      onSubmit={(event) => {
        event.preventDefault();
        void doing.run(text.trim());
      }}
    >
      <input
        aria-label={say('title')}
        value={text}
        maxLength={200}
        autoFocus
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && setText(null)}
      />
      <button type="submit" className="primary" disabled={doing.isBusy}>
        {say('save')}
      </button>
      <Refusal error={doing.error} />
    </form>
  );
}

function BinButton({ head, refresh }: { head: Head; refresh: () => void }) {
  const { api, say } = useStudio();
  const doing = useDoing(async () => {
    const input = { workId: head.id };
    await (head.deletedAt ? api.run(RestoreWork, { input }) : api.run(DeleteWork, { input }));
    refresh();
  });
  return (
    <>
      <button type="button" className={head.deletedAt ? 'primary' : 'plain'} disabled={doing.isBusy} onClick={() => void doing.run()}>
        {say(head.deletedAt ? 'bringBack' : 'toBin')}
      </button>
      <Refusal error={doing.error} />
    </>
  );
}

const STATES: Record<ConnectionState, Word> = {
  connecting: 'connecting',
  connected: 'connected',
  saving: 'saving',
  disconnected: 'disconnected',
  refused: 'refused',
};

interface LiveProperties {
  kind: Exclude<WorkKind, 'ASSET'>;
  workId: string;
  version: number;
  /** Opens the history. */
  look: () => void;
}

function LiveWork({ kind, workId, version, look }: LiveProperties) {
  const { api, say, viewer } = useStudio();
  const { isReadOnly } = useRoom();
  const { live, state } = useLive(workId, api.token);
  useEffect(() => {
    if (live) announce(live, viewer.name, null);
  }, [live, viewer.name]);
  const { meanwhile, dismiss } = useWhileAway(workId, live, state, version);
  const hasContent = live && state !== 'connecting' && state !== 'refused';
  return (
    <>
      <div className="bar">
        <p role="status" className={`state ${state}`}>
          {say(STATES[state])}
        </p>
        {live && <PresenceList live={live} />}
      </div>
      {meanwhile && <WhileAway meanwhile={meanwhile} dismiss={dismiss} look={look} />}
      {isReadOnly && <p className="quiet">{say('readOnly')}</p>}
      <Suspense fallback={<Notice error={null} retry={() => undefined} />}>
        {hasContent && kind === 'STORYBOARD' && <Board workId={workId} live={live} layout={SHOTS} isReadOnly={isReadOnly} />}
        {hasContent && kind === 'COLLECTION' && <Board workId={workId} live={live} layout={ITEMS} isReadOnly={isReadOnly} />}
        {hasContent && kind === 'FLOW' && <FlowCanvas workId={workId} live={live} isReadOnly={isReadOnly} />}
        {hasContent && kind === 'TEXT' && <TextEditor live={live} isReadOnly={isReadOnly} />}
      </Suspense>
    </>
  );
}
