/** The plan of a task: what is done, what is under way, where a person is asked. */
import type { ChecklistState } from '../operations/generated';
import type { Word } from '../strings';
import { useStudio } from '../studio';
import type { FullTask } from './task_page';

const SIGNS: Record<ChecklistState, { mark: string; word: Word }> = {
  "TODO": { mark: '○', word: 'item_open' },
  IN_PROGRESS: { mark: '◐', word: 'item_IN_PROGRESS' },
  DONE: { mark: '●', word: 'item_DONE' },
  SKIPPED: { mark: '–', word: 'item_SKIPPED' },
  STALE: { mark: '↻', word: 'item_STALE' },
};

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
              {SIGNS[item.state].mark}
            </span>
            <span>
              {item.title}
              <span className="hidden"> {say(SIGNS[item.state].word)}</span>
              {item.needsConfirmation && !item.isConfirmed && <span className="quiet"> {say('asksYou')}</span>}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
