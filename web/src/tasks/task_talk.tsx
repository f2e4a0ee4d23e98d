/** The conversation with a task: its questions first, then what was written, then a place to write. */
import { having } from '../api/operation';
import { taskOf } from '../api/events';
import { Notice } from '../frame/notice';
import { TaskThread } from '../operations/generated';
import { useLivePages, useStudio } from '../studio';
import { CardView } from '../talk/card_view';
import { Thread } from '../talk/thread';
import type { FullTask } from './task_page';

const PAGE = 30;

export function TaskTalk({ task, refresh }: { task: FullTask; refresh: () => void }) {
  const { say } = useStudio();
  const thread = useLivePages(
    TaskThread,
    { id: task.id, last: PAGE },
    {
      direction: 'before',
      connection: ({ node }) => having(node, 'thread')?.thread,
      concerns: (event) => taskOf(event) === task.id && /^(MESSAGE_|CARD_)/.test(event.kind),
    },
  );
  if (!thread.list) return <Notice error={thread.error} retry={thread.refresh} />;
  return (
    <Thread
      list={thread.list}
      more={thread.more}
      refresh={() => {
        thread.refresh();
        refresh();
      }}
      taskId={task.id}
      empty={() => <p className="quiet">{task.goal}</p>}
      label={say('writeToTask')}
      after={
        <div className="questions" aria-live="polite">
          {task.cards.map((card) => (
            <CardView key={card.id} card={card} inTask refresh={refresh} />
          ))}
        </div>
      }
    />
  );
}
