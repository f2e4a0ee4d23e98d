/** The conversation with a task: its questions first, then what was written, then a place to write. */
import { useState } from 'react';

import { having } from '../api/operation';
import { taskOf } from '../api/events';
import { Notice } from '../frame/notice';
import { TaskThread } from '../operations/generated';
import { useLiveQuery, useStudio } from '../studio';
import { CardView } from '../talk/card_view';
import { Thread } from '../talk/thread';
import type { FullTask } from './task_page';

const PAGE = 30;
const MOST = 100;

export function TaskTalk({ task, refresh }: { task: FullTask; refresh: () => void }) {
  const { say } = useStudio();
  const [last, setLast] = useState(PAGE);
  const thread = useLiveQuery(
    TaskThread,
    { id: task.id, last },
    (event) => taskOf(event) === task.id && /^(MESSAGE_|CARD_)/.test(event.kind),
  );
  const node = having(thread.data?.node, 'thread');
  if (!node) return <Notice error={thread.error} retry={thread.refresh} />;
  const { nodes, pageInfo } = node.thread;
  return (
    <Thread
      messages={nodes}
      earlier={pageInfo.hasPreviousPage && last < MOST ? () => setLast(Math.min(last + PAGE, MOST)) : null}
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
