/** The orders of a task at media providers: those under way first, then the newest. */
import { useState } from 'react';

import { JobRow, OPEN_STATES } from '../media/job_row';
import { useStudio } from '../studio';
import type { FullTask } from './task_page';

/** So many are shown before somebody asks for all. */
const SHOWN = 4;

export function TaskJobs({ task, refresh }: { task: FullTask; refresh: () => void }) {
  const { say } = useStudio();
  const [isAll, setAll] = useState(false);
  if (task.jobs.length === 0) return null;
  const isOpen = ({ state }: FullTask['jobs'][number]): boolean => OPEN_STATES.includes(state);
  const jobs = [...task.jobs].reverse().sort((one, other) => Number(isOpen(other)) - Number(isOpen(one)));
  const shown = isAll ? jobs : jobs.slice(0, SHOWN);
  return (
    <section aria-label={say('orders')}>
      <h2>
        {say('orders')} <span className="quiet">{jobs.length}</span>
      </h2>
      <ul className="jobs narrow">
        {shown.map((job) => (
          <li key={job.id}>
            <JobRow job={job} refresh={refresh} />
          </li>
        ))}
      </ul>
      {shown.length < jobs.length && (
        <button type="button" className="plain" onClick={() => setAll(true)}>
          {say('andMore', { count: jobs.length - shown.length })}
        </button>
      )}
    </section>
  );
}
