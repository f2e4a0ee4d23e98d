/** All tasks, by status, and a place to give the agent a new goal. */
import { useState } from 'react';

import { More } from '../frame/more';
import { Notice, Refusal } from '../frame/notice';
import { TaskPill } from '../frame/pill';
import { linkTo } from '../frame/place';
import { MakeTask, TaskCount, TaskList, type TaskKind, type TaskStatus } from '../operations/generated';
import { moment } from '../strings/moments';
import { useDoing, useLivePages, useLiveQuery, useRoom, useStudio } from '../studio';
import { randomKey } from '../talk/outbox';

/** In the order in which a person would look. */
const GROUPS: { name: 'groupAsks' | 'groupWorks' | 'groupRests' | 'groupOver'; statuses: TaskStatus[] }[] = [
  { name: 'groupAsks', statuses: ['WAITING_FOR_PERSON', 'BLOCKED'] },
  { name: 'groupWorks', statuses: ['RUNNING', 'QUEUED', 'WAITING_EXTERNAL'] },
  { name: 'groupRests', statuses: ['PAUSED', 'STOPPED'] },
  { name: 'groupOver', statuses: ['DELIVERED', 'ARCHIVED'] },
];
const PAGE = 30;

export function TasksPage({ go }: { go: (hash: string) => void }) {
  const { say } = useStudio();
  const { workspaceId, isReadOnly } = useRoom();
  const [withLight, setLight] = useState(false);
  const kinds: TaskKind[] | null = withLight ? ['PERSISTENT', 'LIGHTWEIGHT'] : null;
  const { data, error, refresh } = useLiveQuery(TaskCount, { id: workspaceId, kinds }, ({ kind }) => kind === 'TASK_CREATED');
  const count = data?.workspace?.tasks.totalCount;
  return (
    <section className="sheet" aria-label={say('tasks')}>
      <h1>{say('tasks')}</h1>
      {!isReadOnly && <NewGoal go={go} />}
      <label className="check">
        <input type="checkbox" checked={withLight} onChange={(event) => setLight(event.target.checked)} />
        {say('showLight')}
      </label>
      {count === undefined && <Notice error={error} retry={refresh} />}
      {count === 0 && <p className="empty">{say('noTasks')}</p>}
      {GROUPS.map(({ name, statuses }) => (
        <Group key={name} title={say(name)} kinds={kinds} statuses={statuses} />
      ))}
    </section>
  );
}

function Group({ title, kinds, statuses }: { title: string; kinds: TaskKind[] | null; statuses: TaskStatus[] }) {
  const { language } = useStudio();
  const { workspaceId } = useRoom();
  const { list, error, refresh, more } = useLivePages(
    TaskList,
    { id: workspaceId, kinds, statuses, first: PAGE },
    { connection: ({ workspace }) => workspace?.tasks, concerns: ({ kind }) => kind.startsWith('TASK_') },
  );
  if (error && !list) return <Notice error={error} retry={refresh} />;
  if (!list || list.nodes.length === 0) return null;
  return (
    <section className="group" aria-label={title}>
      <h2>
        {title} <span className="quiet">{list.total}</span>
      </h2>
      <ul className="task-list">
        {list.nodes.map((task) => (
          <li key={task.id}>
            <a href={linkTo(workspaceId, { taskId: task.id })}>
              <span className="title">{task.title}</span>
              <TaskPill status={task.status} />
              <span className="quiet clip">{(task.status !== 'WAITING_FOR_PERSON' && task.statusReason) || task.shortLine.text}</span>
              <time className="quiet" dateTime={task.updatedAt}>
                {moment(task.updatedAt, language)}
              </time>
            </a>
          </li>
        ))}
      </ul>
      <More list={list} more={more} />
    </section>
  );
}

function NewGoal({ go }: { go: (hash: string) => void }) {
  const { api, say } = useStudio();
  const { workspaceId } = useRoom();
  const [goal, setGoal] = useState('');
  const [key, setKey] = useState(randomKey);
  const doing = useDoing(async () => {
    const { createTask } = await api.run(MakeTask, { input: { workspaceId, goal: goal.trim(), idempotencyKey: key } });
    setGoal('');
    setKey(randomKey());
    go(linkTo(workspaceId, { taskId: createTask.task.id }));
  });
  return (
    <form
      className="new-goal"
      onSubmit={(event) => {
        event.preventDefault();
        void doing.run();
      }}
    >
      <label>
        {say('newTaskGoal')}
        <textarea rows={2} value={goal} onChange={(event) => setGoal(event.target.value)} required />
      </label>
      <button type="submit" className="primary" disabled={doing.isBusy || goal.trim() === ''}>
        {say('makeTask')}
      </button>
      <Refusal error={doing.error} />
    </form>
  );
}
