/** Moves a message that went to the wrong place: to a task that fits, or to a new one. */
import { useState } from 'react';

import { Dialog } from '../frame/dialog';
import { Refusal } from '../frame/notice';
import { TaskPill } from '../frame/pill';
import { Candidates, Reroute, type MessagePartsFragment } from '../operations/generated';
import { useDoing, useQuery, useRoom, useStudio } from '../studio';

interface Properties {
  message: MessagePartsFragment;
  refresh: () => void;
  close: () => void;
}

export function RerouteDialog({ message, refresh, close }: Properties) {
  const { api, say } = useStudio();
  const { workspaceId } = useRoom();
  const { data } = useQuery(Candidates, { id: workspaceId, text: message.text });
  const [goal, setGoal] = useState(message.text);
  const doing = useDoing(async (target: { taskId: string } | { newTaskGoal: string }) => {
    await api.run(Reroute, { input: { messageId: message.id, ...target } });
    refresh();
    close();
  });
  const others = data?.routerCandidates.filter(({ task }) => task.id !== message.task?.id) ?? [];
  return (
    <Dialog title={say('rerouteTitle')} close={close}>
      <p className="quiet">{say('rerouteHint')}</p>
      <ul className="choices">
        {others.map(({ task }) => (
          <li key={task.id}>
            <button type="button" className="plain" disabled={doing.isBusy} onClick={() => void doing.run({ taskId: task.id })}>
              <span className="clip">{task.title}</span> <TaskPill status={task.status} />
            </button>
          </li>
        ))}
      </ul>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void doing.run({ newTaskGoal: goal.trim() });
        }}
      >
        <label>
          {say('newTaskGoal')}
          <textarea rows={2} value={goal} onChange={(event) => setGoal(event.target.value)} />
        </label>
        <button type="submit" disabled={doing.isBusy || goal.trim() === ''}>
          {say('makeTask')}
        </button>
      </form>
      <Refusal error={doing.error} />
    </Dialog>
  );
}
