/** The studio of a person who signed in: which workspace, what stands at the side, what is open. */
import { useEffect, useMemo } from 'react';

import type { Api } from '../api/client';
import { ViewerHome } from '../operations/generated';
import { say, type Language, type Say } from '../strings';
import { StudioContext, useQuery, type Studio, type Viewer } from '../studio';
import { LineBanner } from './line_banner';
import { Notice } from './notice';
import { usePlace } from './place';
import { NoWorkspace, WorkspaceRoom } from './workspace_room';

interface Properties {
  api: Api;
  language: Language;
  setLanguage: (language: Language) => void;
  signOut: () => void;
  refused: () => void;
}

export function Home({ api, language, ...rest }: Properties) {
  const studio = useMemo<Studio>(() => {
    const speak: Say = (word, values) => say(word, language, values);
    return { api, viewer: NOBODY, language, say: speak };
  }, [api, language]);
  return (
    <StudioContext value={studio}>
      <LineBanner />
      <Known studio={studio} {...rest} />
    </StudioContext>
  );
}

/** Stands in until the server has said who the person is. */
const NOBODY: Viewer = { id: '', name: '' };

function Known({ studio, refused, ...rest }: Omit<Properties, 'api' | 'language'> & { studio: Studio }) {
  const { data, error, refresh } = useQuery(ViewerHome, {});
  const [place, go] = usePlace();
  useEffect(() => {
    if (error?.code === 'UNAUTHENTICATED') refused();
  }, [error, refused]);
  const viewer = data?.viewer.user ?? NOBODY;
  const known = useMemo(() => ({ ...studio, viewer }), [studio, viewer]);
  if (!data) return <Notice error={error} retry={refresh} />;
  const workspaces = data.viewer.workspaces.nodes;
  const workspace = workspaces.find((each) => each.id === place.workspaceId) ?? workspaces[0];
  return (
    <StudioContext value={known}>
      {workspace ? (
        <WorkspaceRoom
          key={workspace.id}
          workspace={workspace}
          workspaces={workspaces}
          place={place}
          go={go}
          reread={refresh}
          {...rest}
        />
      ) : (
        <NoWorkspace signOut={rest.signOut} />
      )}
    </StudioContext>
  );
}
