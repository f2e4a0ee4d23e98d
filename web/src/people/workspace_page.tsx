/** The workspace itself: its people, the person's tokens, what the tasks have used. */
import { useState } from 'react';

import { Notice, Refusal } from '../frame/notice';
import { linkTo } from '../frame/place';
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
import { Tokens } from './tokens';
import { UsageTable } from './usage_table';

type Workspace = NonNullable<PeopleQuery['workspace']>;

const ROLES: Role[] = ['OWNER', 'EDITOR', 'VIEWER'];

interface Properties {
  go: (hash: string) => void;
  reread: () => void;
}

export function WorkspacePage({ go, reread }: Properties) {
  const { say } = useStudio();
  const { workspaceId } = useRoom();
  const { data, error, refresh } = useLiveQuery(People, { id: workspaceId }, ({ kind }) => kind === 'MEMBERS_CHANGED');
  const workspace = data?.workspace;
  if (!data || !workspace) return <Notice error={error} retry={refresh} />;
  return (
    <section className="sheet" aria-label={workspace.name}>
      <h1>{workspace.name}</h1>
      <Members workspace={workspace} refresh={refresh} />
      <Tokens tokens={data.viewer.tokens} refresh={refresh} />
      <section className="group">
        <h2>{say('usage')}</h2>
        <UsageTable />
      </section>
      <NewWorkspace go={go} reread={reread} />
    </section>
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
