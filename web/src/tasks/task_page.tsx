/** A task: what it is to reach, where it is, what is being done now, and everything that led there. */
import { taskOf } from '../api/events';
import { having } from '../api/operation';
import { Notice } from '../frame/notice';
import { TaskPill } from '../frame/pill';
import { Tabs } from '../frame/tabs';
import { TaskPage as TaskPageQuery, TaskSteps, type TaskPageQuery as TaskPageData, type TaskStepsQuery } from '../operations/generated';
import { useLivePages, useLiveQuery, useStudio, type Kept } from '../studio';
import { Journal } from './journal';
import { Lines } from './lines';
import { Now } from './now';
import { Steps } from './steps';
import { TaskActions } from './task_actions';
import { TaskSide } from './task_side';
import { TaskTalk } from './task_talk';

export type FullTask = Extract<NonNullable<TaskPageData['node']>, { goal: string }>;
export type Turn = Extract<NonNullable<TaskStepsQuery['node']>, { turns: unknown }>['turns']['nodes'][number];

interface Properties {
  taskId: string;
  /** The work that stands beside it. */
  workId: string | null;
  go: (hash: string) => void;
}

/** So many turns are read at once. */
const TURNS = 5;

export function TaskPage({ taskId, workId, go }: Properties) {
  const { say } = useStudio();
  const task: Kept<TaskPageData> = useLiveQuery(TaskPageQuery, { id: taskId }, (event) => {
    if (taskOf(event) === taskId) return true;
    // A linked work that somebody changed makes a notice, and another title.
    return event.kind.startsWith('WORK_') && shows(task.data, event.subject?.id);
  });
  const steps = useLivePages(
    TaskSteps,
    { id: taskId, last: TURNS },
    {
      direction: 'before',
      connection: ({ node }) => having(node, 'turns')?.turns,
      concerns: (event) => taskOf(event) === taskId && /^(STEP_|CALL_|TASK_STATUS)/.test(event.kind),
    },
  );
  const full = having(task.data?.node, 'goal');
  if (!task.data) return <Notice error={task.error} retry={task.refresh} />;
  if (!full) return <p className="notice">{say('noSuchTask')}</p>;
  const turns = steps.list;
  return (
    <section className={workId ? 'task-page narrow' : 'task-page'} aria-label={say('task')}>
      <header className="task-head">
        <div>
          <h1>{full.title}</h1>
          <p className="quiet">
            <TaskPill status={full.status} /> <span className="short-line">{full.shortLine.text}</span>
          </p>
          {full.statusReason && full.status !== 'WAITING_FOR_PERSON' && <p className="reason">{full.statusReason}</p>}
        </div>
        <TaskActions task={full} refresh={task.refresh} go={go} />
      </header>
      <div className="task-body">
        <div className="task-main">
          <Now task={full} turns={turns} />
          <Tabs
            label={say('task')}
            tabs={[
              { id: 'talk', name: say('tabTalk'), show: () => <TaskTalk task={full} refresh={task.refresh} /> },
              { id: 'steps', name: say('tabSteps'), show: () => <Steps turns={turns} more={steps.more} /> },
              { id: 'journal', name: say('tabJournal'), show: () => <Journal taskId={taskId} /> },
              { id: 'lines', name: say('tabLines'), show: () => <Lines taskId={taskId} /> },
            ]}
          />
        </div>
        <TaskSide task={full} refresh={task.refresh} openWorkId={workId} />
      </div>
    </section>
  );
}

function shows(data: TaskPageData | null, workId: string | undefined): boolean {
  return having(data?.node, 'works')?.works.some(({ work }) => work.id === workId) ?? false;
}
