/** What the agent always knows when it does something for the person here. */
import { Notice } from '../frame/notice';
import { linkTo } from '../frame/place';
import { KnownProfile } from '../operations/generated';
import { useLiveQuery, useRoom, useStudio } from '../studio';

export function Profile() {
  const { say } = useStudio();
  const { workspaceId } = useRoom();
  const { data, error, refresh } = useLiveQuery(
    KnownProfile,
    { id: workspaceId },
    ({ kind }) => kind === 'PROFILE_CHANGED' || kind.startsWith('MEMORY_'),
  );
  const profile = data?.workspace?.profile;
  if (!profile) return <Notice error={error} retry={refresh} />;
  return (
    <div className="stack roomy">
      <p className="quiet">{say('profileLead')}</p>
      {profile.entries.length === 0 && <p className="empty">{say('emptyProfile')}</p>}
      <ul className="rows profile">
        {profile.entries.map(({ id, scope, current }) => (
          <li key={id}>
            <a className="title" href={linkTo(workspaceId, { memoryId: id })}>
              {current?.content}
            </a>
            <span className="quiet">{say(`scope_${scope}`)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
