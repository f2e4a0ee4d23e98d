/** The studio of a person who signed in: the workspaces, the works of one, and the work that is open. */
import { useEffect, useMemo, useState } from 'react';

import { ApiError, type Api } from './api';
import { Notice } from './notice';
import { LANGUAGES, say, words, type Language, type Word } from './strings';
import { StudioContext, useQuery, useStudio, type Viewer } from './studio';
import { WorkPage } from './work/work_page';
import { Works } from './works';

const VIEWER = `query Viewer {
  viewer { user { id name } workspaces(first: 100) { nodes { id name viewerRole } } }
}`;

interface Workspace {
  id: string;
  name: string;
  viewerRole: 'OWNER' | 'EDITOR' | 'VIEWER';
}

interface ViewerData {
  viewer: { user: Viewer; workspaces: { nodes: Workspace[] } };
}

interface Properties {
  api: Api;
  language: Language;
  setLanguage: (language: Language) => void;
  signOut: () => void;
  refused: () => void;
}

export function Home({ api, language, setLanguage, signOut, refused }: Properties) {
  const { data, error, reload } = useQuery<ViewerData>(api, VIEWER, {});
  useEffect(() => {
    if (error?.code === 'UNAUTHENTICATED') refused();
  }, [error, refused]);
  const viewer = data?.viewer.user ?? NOBODY;
  const studio = useMemo(
    () => ({ api, viewer, language, say: (word: Word) => say(word, language) }),
    [api, viewer, language],
  );
  return (
    <StudioContext value={studio}>
      {data ? (
        <Rooms workspaces={data.viewer.workspaces.nodes} setLanguage={setLanguage} signOut={signOut} />
      ) : (
        <Notice error={error} retry={reload} />
      )}
    </StudioContext>
  );
}

/** Stands in until the server has said who the person is. */
const NOBODY: Viewer = { id: '', name: '' };

interface RoomsProperties {
  workspaces: Workspace[];
  setLanguage: (language: Language) => void;
  signOut: () => void;
}

function Rooms({ workspaces, setLanguage, signOut }: RoomsProperties) {
  const { say, language, viewer } = useStudio();
  const [place, go] = usePlace();
  const workspace = workspaces.find((each) => each.id === place.workspaceId) ?? workspaces[0];
  const [rounds, setRounds] = useState<Record<string, number>>({});
  const heard = (workId: string | undefined): void => {
    if (workId) setRounds((before) => ({ ...before, [workId]: (before[workId] ?? 0) + 1 }));
  };
  return (
    <div className="studio">
      <header className="top">
        <h1>Atelier</h1>
        {workspace && (
          <label>
            {say('workspace')}
            <select value={workspace.id} onChange={(event) => go({ workspaceId: event.target.value, workId: null })}>
              {workspaces.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
        <span className="quiet">{viewer.name}</span>
        <label>
          {say('language')}
          <select value={language} onChange={(event) => setLanguage(languageOf(event.target.value))}>
            {LANGUAGES.map((each) => (
              <option key={each} value={each} lang={each}>
                {words.languageName[each]}
              </option>
            ))}
          </select>
        </label>
        <button type="button" onClick={signOut}>
          {say('signOut')}
        </button>
      </header>
      {workspace ? (
        <Works
          key={workspace.id}
          workspaceId={workspace.id}
          isReadOnly={workspace.viewerRole === 'VIEWER'}
          openId={place.workId}
          open={(workId) => go({ workspaceId: workspace.id, workId })}
          heard={(event) => heard(event.subject?.id)}
        />
      ) : (
        <p className="notice">{say('noWorkspaces')}</p>
      )}
      <main>
        {workspace && place.workId ? (
          <WorkPage
            key={place.workId}
            workId={place.workId}
            isReadOnly={workspace.viewerRole === 'VIEWER'}
            round={rounds[place.workId] ?? 0}
          />
        ) : (
          <p className="quiet">{say('chooseWork')}</p>
        )}
      </main>
    </div>
  );
}

/** Where the person is: in the address, as `#/workspace/work`, so that going back and reloading work. */
interface Place {
  workspaceId: string | null;
  workId: string | null;
}

function usePlace(): [Place, (place: Place) => void] {
  const [place, setPlace] = useState(readPlace);
  useEffect(() => {
    const read = (): void => setPlace(readPlace());
    addEventListener('hashchange', read);
    return () => removeEventListener('hashchange', read);
  }, []);
  const go = ({ workspaceId, workId }: Place): void => {
    location.hash = ['#', workspaceId, workId].filter((part) => part !== null).join('/');
  };
  return [place, go];
}

function readPlace(): Place {
  const [, workspaceId = null, workId = null] = location.hash.split('/');
  return { workspaceId: workspaceId || null, workId: workId || null };
}

function languageOf(tag: string): Language {
  const found = LANGUAGES.find((language) => language === tag);
  if (!found) throw new ApiError('UNKNOWN', `no language ${tag}`);
  return found;
}
