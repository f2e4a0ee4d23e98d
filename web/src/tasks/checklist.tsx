/** The plan of a task: what is done, what is under way, where a person is asked. */
import type { ChecklistState } from '../operations/generated';
import { useStudio } from '../studio';
import type { FullTask } from './task_page';

const MARKS: Record<ChecklistState, string> = { TODO: '○', IN_PROGRESS: '◐', DONE: '●', SKIPPED: '–', STALE: '↻' };

export function Checklist({ items }: { items: FullTask['checklist'] }) {
  const { say } = useStudio();
  if (items.length === 0) return null;
  const done = items.filter(({ state }) => state === 'DONE' || state === 'SKIPPED').length;
  return (
    <section>
      <h2>
        {say('plan')}{' '}
        <span className="quiet">
          {done}/{items.length}
        </span>
      </h2>
      <progress className="plan-progress" value={done} max={items.length} aria-label={say('plan')} />
      <ul className="checklist">
        {items.map((item) => (
          <li key={item.id} className={item.state} title={item.evidence ?? undefined}>
            <span className="mark" aria-hidden="true">
              {MARKS[item.state]}
            </span>
            <span>
              {item.title}
              <span className="hidden"> {say(`item_${item.state}`)}</span>
              {item.needsConfirmation && !item.isConfirmed && <span className="quiet"> {say('asksYou')}</span>}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
