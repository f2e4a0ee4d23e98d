/** The side: the workspace, the conversation, tasks at work, works, memory, the workspace itself; language and leaving at its foot. */
import { useState, type ReactNode } from 'react';

import { Shell, type TaskStatus, type WorkLineFragment } from '../operations/generated';
import { LANGUAGES, languageNames, type Language } from '../strings';
import { useLiveQuery, useRoom, useStudio } from '../studio';
import { isRoomPage, linkTo, type Place, type Target } from './place';
import { SearchBox } from './search_box';
import { useTheme } from './theme';
import type { WorkspaceLine } from './workspace_room';

/** What is not over. */
export const ACTIVE: TaskStatus[] = [
  'WAITING_FOR_PERSON',
  'BLOCKED',
  'RUNNING',
  'QUEUED',
  'WAITING_EXTERNAL',
  'PAUSED',
];

interface Properties {
  workspaces: WorkspaceLine[];
  place: Place;
  go: (hash: string) => void;
  setLanguage: (language: Language) => void;
  signOut: () => void;
}

const SHOWN_BY = /^(TASK_|CARD_|WORK_(CREATED|RENAMED|DELETED|RESTORED))/;

export function Side({ workspaces, place, go, setLanguage, signOut }: Properties) {
  const { say, viewer } = useStudio();
  const { workspaceId } = useRoom();
  const { data } = useLiveQuery(Shell, { id: workspaceId, active: ACTIVE }, ({ kind }) => SHOWN_BY.test(kind));
  const { tasks, works, openCards } = data?.workspace ?? {};
  const isHere = (page: Place['page']): boolean => !place.taskId && !place.workId && place.page === page;
  return (
    <nav id="side" className="side" aria-label={say('navigation')}>
      <label className="workspace-choice">
        <span className="hidden">{say('workspace')}</span>
        <select value={workspaceId} onChange={(event) => go(linkTo(event.target.value))}>
          {workspaces.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <SearchBox go={go} />
      <ul className="places">
        <Item isHere={isHere('talk')} target={{}} note={openCards?.length ? String(openCards.length) : ''}>
          {say('conversation')}
        </Item>
        <Item isHere={isHere('tasks')} target={{ page: 'tasks' }}>
          {say('tasks')}
        </Item>
        {tasks?.nodes.map((task) => (
          <Item key={task.id} isHere={place.taskId === task.id} target={{ taskId: task.id }} className={`inner task ${task.status}`}>
            <span className="dot" aria-hidden="true" />
            <span className="clip">{task.title}</span>
            <span className="hidden">{say(`task_${task.status}`)}</span>
          </Item>
        ))}
        <Item isHere={isHere('works')} target={{ page: 'works' }}>
          {say('works')}
        </Item>
        {works?.nodes.slice(0, 12).map((work) => (
          <WorkItem key={work.id} work={work} isHere={place.workId === work.id} />
        ))}
        <Item isHere={isHere('memory')} target={{ page: 'memory' }}>
          {say('memory')}
        </Item>
        <Item isHere={!place.taskId && !place.workId && isRoomPage(place.page)} target={{ page: 'people' }}>
          {say('people')}
        </Item>
      </ul>
      <Foot name={viewer.name} setLanguage={setLanguage} signOut={signOut} />
    </nav>
  );
}

interface ItemProperties {
  isHere: boolean;
  target: Target;
  note?: string;
  className?: string;
  children: ReactNode;
}

function Item({ isHere, target, note = '', className = '', children }: ItemProperties) {
  const { say } = useStudio();
  const { workspaceId } = useRoom();
  return (
    <li className={className}>
      <a href={linkTo(workspaceId, target)} aria-current={isHere ? 'page' : undefined}>
        {children}
        {note && (
          <span className="count">
            {note}
            <span className="hidden"> {say('openQuestions')}</span>
          </span>
        )}
      </a>
    </li>
  );
}

const SIGNS: Record<WorkLineFragment['kind'], string> = { STORYBOARD: '▤', FLOW: '⇢', TEXT: '¶', COLLECTION: '▦', ASSET: '◫' };

function WorkItem({ work, isHere }: { work: WorkLineFragment; isHere: boolean }) {
  const { say } = useStudio();
  return (
    <Item isHere={isHere} target={{ workId: work.id }} className="inner">
      <span className="sign" aria-hidden="true">
        {SIGNS[work.kind]}
      </span>
      <span className="clip">{work.title}</span>
      <span className="hidden">{say(work.kind)}</span>
    </Item>
  );
}

function Foot({ name, setLanguage, signOut }: { name: string; setLanguage: (language: Language) => void; signOut: () => void }) {
  const { say, language } = useStudio();
  const [theme, setTheme] = useTheme();
  const [isOpen, setOpen] = useState(false);
  return (
    <footer>
      <button type="button" className="plain" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {name || say('settings')} ▾
      </button>
      {isOpen && (
        <div className="settings">
          <label>
            {say('language')}
            <select value={language} onChange={(event) => setLanguage(event.target.value as Language)}>
              {LANGUAGES.map((each) => (
                <option key={each} value={each} lang={each}>
                  {languageNames[each]}
                </option>
              ))}
            </select>
          </label>
          <label>
            {say('theme')}
            <select value={theme} onChange={(event) => setTheme(event.target.value as typeof theme)}>
              <option value="system">{say('themeSystem')}</option>
              <option value="light">{say('themeLight')}</option>
              <option value="dark">{say('themeDark')}</option>
            </select>
          </label>
          <button type="button" onClick={signOut}>
            {say('signOut')}
          </button>
        </div>
      )}
    </footer>
  );
}
