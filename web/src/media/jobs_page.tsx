/** All orders at media providers, the newest first, by how far they are. */
import { useState } from 'react';

import { More } from '../frame/more';
import { Notice } from '../frame/notice';
import { Orders, type JobState } from '../operations/generated';
import { useLivePages, useRoom, useStudio } from '../studio';
import { JobRow, OPEN_STATES } from './job_row';

/** As many tasks as one question may cost, each with its orders. */
const PAGE = 20;

const GROUPS = {
  all: null,
  open: OPEN_STATES,
  made: ['SUCCEEDED'],
  nothing: ['FAILED', 'CANCELLED', 'DECLINED'],
} as const satisfies Record<string, readonly JobState[] | null>;
type Group = keyof typeof GROUPS;

export function JobsPage() {
  const { say } = useStudio();
  const { workspaceId } = useRoom();
  const [group, setGroup] = useState<Group>('all');
  const { list, error, refresh, more } = useLivePages(
    Orders,
    { id: workspaceId, first: PAGE },
    { connection: ({ workspace }) => workspace?.tasks, concerns: ({ kind }) => kind.startsWith('JOB_') },
  );
  if (!list) return <Notice error={error} retry={refresh} />;
  const states: readonly JobState[] | null = GROUPS[group];
  const all = list.nodes.flatMap(({ jobs, ...task }) => jobs.map((job) => ({ job, task })));
  const shown = all
    .filter(({ job }) => !states || states.includes(job.state))
    .sort((one, other) => other.job.createdAt.localeCompare(one.job.createdAt));
  return (
    <>
      <p className="quiet lead">{say('jobsLead')}</p>
      <div className="row" role="group" aria-label={say('show')}>
        {(Object.keys(GROUPS) as Group[]).map((each) => (
          <button key={each} type="button" aria-pressed={group === each} onClick={() => setGroup(each)}>
            {say(`jobs_${each}`)}{' '}
            <span className="quiet">{all.filter(({ job }) => !GROUPS[each] || (GROUPS[each] as readonly JobState[]).includes(job.state)).length}</span>
          </button>
        ))}
      </div>
      {shown.length === 0 && <p className="empty">{say(all.length === 0 ? 'noJobs' : 'noneOfThese')}</p>}
      <ul className="jobs">
        {shown.map(({ job, task }) => (
          <li key={job.id}>
            <JobRow job={job} task={task} refresh={refresh} />
          </li>
        ))}
      </ul>
      <More list={list} more={more} word="olderTasks" />
    </>
  );
}
