/** All tasks, by status, and a place to give the agent a new goal. */
import { useState } from 'react';

import { Notice, Refusal } from '../frame/notice';
import { TaskPill } from '../frame/pill';
import { linkTo } from '../frame/place';
import { MakeTask, TaskList, type TaskLineFragment, type TaskStatus } from '../operations/generated';
import { moment } from '../strings/moments';
import { useDoing, useLiveQuery, useRoom, useStudio } from '../studio';
import { randomKey } from '../talk/outbox';

/** In the order in which a person would look. */
const GROUPS: { name: 'groupAsks' | 'groupWorks' | 'groupRests' | 'groupOver'; statuses: TaskStatus[] }[] = [
  { name: 'groupAsks', statuses: ['WAITING_FOR_PERSON', 'BLOCKED'] },
  { name: 'groupWorks', statuses: ['RUNNING', 'QUEUED', 'WAITING_EXTERNAL'] },
  { name: 'groupRests', statuses: ['PAUSED', 'STOPPED'] },
  { name: 'groupOver', statuses: ['DELIVERED', 'ARCHIVED'] },
];
const PAGE = 50;
const MOST = 100;

export function TasksPage({ go }: { go: (hash: string) => void }) {
  const { say } = useStudio();
  const { workspaceId, isReadOnly } = useRoom();
  const [first, setFirst] = useState(PAGE);
  const [withLight, setLight] = useState(false);
  const { data, error, refresh } = useLiveQuery(
    TaskList,
    { id: workspaceId, kinds: withLight ? ['PERSISTENT', 'LIGHTWEIGHT'] : null, statuses: null, first },
    ({ kind }) => kind.startsWith('TASK_'),
  );
  const page = data?.workspace?.tasks;
  return (
    <section className="sheet" aria-label={say('tasks')}>
      <h1>{say('tasks')}</h1>
      {!isReadOnly && <NewGoal go={go} />}
      <label className="check">
        <input type="checkbox" checked={withLight} onChange={(event) => setLight(event.target.checked)} />
        {say('showLight')}
      </label>
      {!page && <Notice error={error} retry={refresh} />}
      {page?.nodes.length === 0 && <p className="quiet">{say('noTasks')}</p>}
      {GROUPS.map(({ name, statuses }) => (
        <Group key={name} title={say(name)} tasks={page?.nodes.filter(({ status }) => statuses.includes(status)) ?? []} />
      ))}
      {page?.pageInfo.hasNextPage && first < MOST && (
        <button type="button" onClick={() => setFirst(MOST)}>
          {say('more')}
        </button>
      )}
    </section>
  );
}

function Group({ title, tasks }: { title: string; tasks: TaskLineFragment[] }) {
  const { language } = useStudio();
  const { workspaceId } = useRoom();
  if (tasks.length === 0) return null;
  return (
    <section className="group">
      <h2>
        {title} <span className="quiet">{tasks.length}</span>
      </h2>
      <ul className="task-list">
        {tasks.map((task) => (
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
