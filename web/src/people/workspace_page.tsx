/** The workspace itself, page by page: its people, money, orders, usage, what can be made, and guides. */
import { useEffect, useRef, useState } from 'react';

import { Notice, Refusal } from '../frame/notice';
import { linkTo, ROOM_PAGES, type Page, type RoomPage } from '../frame/place';
import { AbilitiesPage } from '../media/abilities_page';
import { GuidesPage } from '../media/guides_page';
import { JobsPage } from '../media/jobs_page';
import { BudgetPage } from '../money/budget_page';
import {
  AddMember,
  MakeToken,
  MakeWorkspace,
  People,
  RemoveMember,
  type PeopleQuery,
  type Role,
} from '../operations/generated';
import { moment } from '../strings/moments';
import { useDoing, useLiveQuery, useRoom, useStudio } from '../studio';
import { UsagePage } from '../usage/usage_page';
import { Tokens } from './tokens';

type Workspace = NonNullable<PeopleQuery['workspace']>;

const ROLES: Role[] = ['OWNER', 'EDITOR', 'VIEWER'];

interface Properties {
  go: (hash: string) => void;
  reread: () => void;
}

export function WorkspacePage({ page, ...rest }: Properties & { page: Page }) {
  const { say } = useStudio();
  const { workspaceId, workspaceName } = useRoom();
  const pages = useRef<HTMLElement>(null);
  // Where the row of pages is wider than the screen, the one that is open is in view.
  useEffect(() => {
    pages.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [page]);
  return (
    <section className="sheet" aria-label={workspaceName}>
      <h1>{workspaceName}</h1>
      <nav ref={pages} className="room-pages" aria-label={say('people')}>
        {ROOM_PAGES.map((each) => (
          <a key={each} href={linkTo(workspaceId, { page: each })} aria-current={page === each ? 'page' : undefined}>
            {say(`room_${each}`)}
          </a>
        ))}
      </nav>
      <RoomPageView page={page as RoomPage} {...rest} />
    </section>
  );
}

function RoomPageView({ page, ...rest }: Properties & { page: RoomPage }) {
  switch (page) {
    case 'people':
      return <PeoplePage {...rest} />;
    case 'budget':
      return <BudgetPage />;
    case 'jobs':
      return <JobsPage />;
    case 'usage':
      return <UsagePage />;
    case 'abilities':
      return <AbilitiesPage />;
    case 'guides':
      return <GuidesPage />;
  }
}

function PeoplePage({ go, reread }: Properties) {
  const { workspaceId } = useRoom();
  const { data, error, refresh } = useLiveQuery(People, { id: workspaceId }, ({ kind }) => kind === 'MEMBERS_CHANGED');
  const workspace = data?.workspace;
  if (!data || !workspace) return <Notice error={error} retry={refresh} />;
  return (
    <>
      <Members workspace={workspace} refresh={refresh} />
      <Tokens tokens={data.viewer.tokens} refresh={refresh} />
      <NewWorkspace go={go} reread={reread} />
    </>
  );
}

function Members({ workspace, refresh }: { workspace: Workspace; refresh: () => void }) {
  const { api, say, language, viewer } = useStudio();
  const { workspaceId } = useRoom();
  const isOwner = workspace.viewerRole === 'OWNER';
  const removing = useDoing(async (userId: string) => {
    await api.run(RemoveMember, { input: { workspaceId, userId } });
    refresh();
  });
  const changing = useDoing(async (email: string, role: Role) => {
    await api.run(AddMember, { input: { workspaceId, email, role } });
    refresh();
  });
  return (
    <section className="group">
      <h2>{say('members')}</h2>
      <ul className="rows">
        {workspace.members.map(({ user, role, joinedAt }) => (
          <li key={user.id}>
            <span className="title">
              {user.name} {user.id === viewer.id && <span className="quiet">({say('you')})</span>}
            </span>
            <span className="quiet clip">{user.email}</span>
            {isOwner && user.email && user.id !== viewer.id ? (
              <select
                aria-label={say('roleOf', { name: user.name })}
                value={role}
                disabled={changing.isBusy}
                onChange={(event) => void changing.run(user.email ?? '', event.target.value as Role)}
              >
                {ROLES.map((each) => (
                  <option key={each} value={each}>
                    {say(`role_${each}`)}
                  </option>
                ))}
              </select>
            ) : (
              <span>{say(`role_${role}`)}</span>
            )}
            <time className="quiet" dateTime={joinedAt}>
              {moment(joinedAt, language)}
            </time>
            {isOwner && user.id !== viewer.id && (
              <button
                type="button"
                className="plain danger"
                disabled={removing.isBusy}
                onClick={() => confirm(say('removeMemberQuestion', { name: user.name })) && void removing.run(user.id)}
              >
                {say('removeMember')}
              </button>
            )}
          </li>
        ))}
      </ul>
      <Refusal error={removing.error ?? changing.error} />
      {isOwner && <Invitation refresh={refresh} />}
    </section>
  );
}

function Invitation({ refresh }: { refresh: () => void }) {
  const { api, say } = useStudio();
  const { workspaceId } = useRoom();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('EDITOR');
  const [link, setLink] = useState<string | null>(null);
  const doing = useDoing(async () => {
    const { addMember } = await api.run(AddMember, { input: { workspaceId, email: email.trim(), role } });
    refresh();
    setEmail('');
    const input = { label: say('firstToken'), kind: 'PERSONAL' as const, userId: addMember.member.user.id, workspaceId };
    const { createToken } = await api.run(MakeToken, { input });
    setLink(`${location.origin}/#token=${createToken.secret}`);
  });
  return (
    <form
      className="inline-form"
      aria-label={say('addMember')}
      onSubmit={(event) => {
        event.preventDefault();
        setLink(null);
        void doing.run();
      }}
    >
      <label>
        {say('email')}
        <input type="email" required value={email} onChange={(event) => setEmail(event.target.value)} />
      </label>
      <label>
        {say('role')}
        <select value={role} onChange={(event) => setRole(event.target.value as Role)}>
          {ROLES.map((each) => (
            <option key={each} value={each}>
              {say(`role_${each}`)}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" className="primary" disabled={doing.isBusy}>
        {say('addMember')}
      </button>
      <Refusal error={doing.error} />
      {link && (
        <p className="secret">
          {say('memberLink')} <code>{link}</code>
        </p>
      )}
    </form>
  );
}

function NewWorkspace({ go, reread }: Properties) {
  const { api, say } = useStudio();
  const [name, setName] = useState('');
  const doing = useDoing(async () => {
    const { createWorkspace } = await api.run(MakeWorkspace, { input: { name: name.trim() } });
    setName('');
    reread();
    go(linkTo(createWorkspace.workspace.id));
  });
  return (
    <section className="group">
      <h2>{say('newWorkspace')}</h2>
      <form
        className="inline-form"
        onSubmit={(event) => {
          event.preventDefault();
          void doing.run();
        }}
      >
        <label>
          {say('title')}
          <input required maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <button type="submit" disabled={doing.isBusy || name.trim() === ''}>
          {say('create')}
        </button>
        <Refusal error={doing.error} />
      </form>
    </section>
  );
}
