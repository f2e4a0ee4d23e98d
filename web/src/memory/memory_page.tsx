/** Memory: what is remembered, about whom, since when and from which words; and a person's word on all of it. */
import { useEffect, useState } from 'react';

import { having } from '../api/operation';
import { More } from '../frame/more';
import { Notice, Refusal } from '../frame/notice';
import { Tabs } from '../frame/tabs';
import { FindMemories, Memories, OneMemory, type MemoryScope, type MemoryState } from '../operations/generated';
import { useDoing, useLivePages, useLiveQuery, useRoom, useStudio } from '../studio';
import { PAGE, readAll } from './all';
import { exported, save } from './export';
import { ForgetContext, ForgetDialog } from './forget_dialog';
import { MemoryCard } from './memory_card';
import { RememberForm } from './remember_form';
import { Profile } from './profile';
import type { Memory } from './reach';
import { NotTaken } from './rejections';

const STATES: MemoryState[] = ['ACTIVE', 'SUPERSEDED', 'FORGOTTEN'];
const SCOPES: MemoryScope[] = ['PERSON', 'WORKSPACE', 'TASK'];
/** How long a person must pause before it is looked for. */
const PAUSE_MS = 250;

export const isOfMemory = ({ kind }: { kind: string }): boolean => kind.startsWith('MEMORY_');

export function MemoryPage({ memoryId }: { memoryId: string | null }) {
  const { say } = useStudio();
  const { isReadOnly } = useRoom();
  const [forgetting, setForgetting] = useState<Memory | null>(null);
  return (
    <ForgetContext value={setForgetting}>
      <section className="sheet memory-page" aria-label={say('memory')}>
        <header className="sheet-head">
          <div>
            <h1>{say('memory')}</h1>
            <p className="quiet lead">{say('memoryLead')}</p>
          </div>
          <Export />
        </header>
        {memoryId && <Pointed key={memoryId} memoryId={memoryId} />}
        {!isReadOnly && <RememberForm />}
        <Tabs
          label={say('memory')}
          tabs={[
            { id: 'remembered', name: say('remembered'), show: () => <Remembered /> },
            { id: 'profile', name: say('profile'), show: () => <Profile /> },
            { id: 'not-taken', name: say('notTaken'), show: () => <NotTaken /> },
          ]}
        />
        {forgetting && <ForgetDialog memory={forgetting} close={() => setForgetting(null)} />}
      </section>
    </ForgetContext>
  );
}

/** The memory that a link leads to, above the others. */
function Pointed({ memoryId }: { memoryId: string }) {
  const { say } = useStudio();
  const { data, error, refresh } = useLiveQuery(OneMemory, { id: memoryId }, isOfMemory);
  if (!data) return <Notice error={error} retry={refresh} />;
  const memory = having(data.node, 'versions');
  return (
    <section className="group pointed" aria-label={say('foundMemory')}>
      <h2>{say('foundMemory')}</h2>
      {memory ? <ul className="memories"><MemoryCard memory={memory} /></ul> : <p className="quiet">{say('noSuchMemory')}</p>}
    </section>
  );
}

function Remembered() {
  const { say } = useStudio();
  const [state, setState] = useState<MemoryState>('ACTIVE');
  const [scope, setScope] = useState<MemoryScope | ''>('');
  const [text, setText] = useState('');
  const query = usePaused(text.trim());
  return (
    <div className="stack roomy">
      <div className="filters">
        <label>
          {say('findMemory')}
          <input type="search" value={text} onChange={(event) => setText(event.target.value)} />
        </label>
        {query === '' && (
          <>
            <label>
              {say('reach')}
              <select value={scope} onChange={(event) => setScope(event.target.value as MemoryScope | '')}>
                <option value="">{say('everything')}</option>
                {SCOPES.map((each) => (
                  <option key={each} value={each}>
                    {say(`scope_${each}`)}
                  </option>
                ))}
              </select>
            </label>
            <label>
              {say('memoryState')}
              <select value={state} onChange={(event) => setState(event.target.value as MemoryState)}>
                {STATES.map((each) => (
                  <option key={each} value={each}>
                    {say(`memory_${each}`)}
                  </option>
                ))}
              </select>
            </label>
          </>
        )}
      </div>
      {query === '' ? <ByFilter state={state} scope={scope} /> : <ByWords query={query} />}
    </div>
  );
}

function ByFilter({ state, scope }: { state: MemoryState; scope: MemoryScope | '' }) {
  const { say } = useStudio();
  const { workspaceId } = useRoom();
  const { list, error, refresh, more } = useLivePages(
    Memories,
    { id: workspaceId, states: [state], scopes: scope === '' ? null : [scope], first: PAGE },
    { connection: ({ workspace }) => workspace?.memories, concerns: isOfMemory },
  );
  if (!list) return <Notice error={error} retry={refresh} />;
  return (
    <>
      <p className="quiet" role="status">
        {list.total !== null && list.total > 0 && say('countMemories', { count: list.total })}
      </p>
      <MemoryList memories={list.nodes} empty={state === 'ACTIVE' && scope === '' ? say('noMemories') : say('noneOfThese')} />
      <More list={list} more={more} />
    </>
  );
}

function ByWords({ query }: { query: string }) {
  const { say } = useStudio();
  const { workspaceId } = useRoom();
  const { data, error, refresh } = useLiveQuery(FindMemories, { id: workspaceId, query, first: PAGE }, isOfMemory);
  if (!data) return <Notice error={error} retry={refresh} />;
  const found = data.search.edges.flatMap(({ node }) => having(node, 'versions') ?? []);
  return <MemoryList memories={found} empty={say('nothingFound')} />;
}

function MemoryList({ memories, empty }: { memories: readonly Memory[]; empty: string }) {
  const { say } = useStudio();
  if (memories.length === 0) return <p className="empty">{empty}</p>;
  return (
    <ul className="memories" aria-label={say('remembered')}>
      {memories.map((memory) => (
        <MemoryCard key={memory.id} memory={memory} />
      ))}
    </ul>
  );
}

function Export() {
  const { api, say } = useStudio();
  const { workspaceId, workspaceName } = useRoom();
  const doing = useDoing(async () => {
    const memories = await readAll(api, workspaceId);
    const now = new Date();
    const text = exported(memories, { id: workspaceId, name: workspaceName }, now);
    save(`memory-${now.toISOString().slice(0, 10)}.json`, text, 'application/json');
  });
  return (
    <div>
      <button type="button" aria-busy={doing.isBusy} disabled={doing.isBusy} onClick={() => void doing.run()}>
        {say(doing.isBusy ? 'loading' : 'exportMemory')}
      </button>
      <Refusal error={doing.error} />
    </div>
  );
}

/** What was typed, once nothing was typed for a moment. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), text === '' ? 0 : PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}
