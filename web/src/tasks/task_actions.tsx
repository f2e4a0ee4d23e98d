/** What a person can do with a task as it stands. */
import { useState } from 'react';

import type { Operation } from '../api/operation';
import { Dialog } from '../frame/dialog';
import { More } from '../frame/more';
import { Notice, Refusal } from '../frame/notice';
import { TaskPill } from '../frame/pill';
import { linkTo } from '../frame/place';
import {
  ArchiveTask,
  MergeTasks,
  PauseTask,
  PromoteTask,
  ResumeTask,
  StopTask,
  TaskList,
  type TaskActionInput,
  type TaskKind,
  type TaskStatus,
} from '../operations/generated';
import { useDoing, useLivePages, useRoom, useStudio } from '../studio';

export type Action = 'pause' | 'resume' | 'stop' | 'promote' | 'merge' | 'archive';

const MOVING: TaskStatus[] = ['QUEUED', 'RUNNING', 'WAITING_EXTERNAL', 'WAITING_FOR_PERSON'];
/** All but what is out of the way. */
const MERGEABLE: TaskStatus[] = [...MOVING, 'PAUSED', 'BLOCKED', 'STOPPED', 'DELIVERED'];
const RESUMABLE: TaskStatus[] = ['PAUSED', 'BLOCKED', 'STOPPED', 'ARCHIVED'];

/** What makes sense for a task; the server has the last word. */
export function actionsFor({ status, kind }: { status: TaskStatus; kind: TaskKind }): Action[] {
  const actions: Action[] = [];
  if (RESUMABLE.includes(status)) actions.push('resume');
  if (MOVING.includes(status)) actions.push('pause');
  if (MOVING.includes(status) || status === 'PAUSED' || status === 'BLOCKED') actions.push('stop');
  if (kind === 'LIGHTWEIGHT') actions.push('promote');
  if (status !== 'ARCHIVED') actions.push('merge', 'archive');
  return actions;
}

type TaskMutation = Operation<unknown, { input: TaskActionInput }>;

const MUTATIONS: Record<Exclude<Action, 'merge'>, TaskMutation> = {
  pause: PauseTask as TaskMutation,
  resume: ResumeTask as TaskMutation,
  stop: StopTask as TaskMutation,
  promote: PromoteTask as TaskMutation,
  archive: ArchiveTask as TaskMutation,
};

interface Properties {
  task: { id: string; status: TaskStatus; kind: TaskKind };
  refresh: () => void;
  go: (hash: string) => void;
}

export function TaskActions({ task, refresh, go }: Properties) {
  const { api, say } = useStudio();
  const { isReadOnly } = useRoom();
  const [isMerging, setMerging] = useState(false);
  const doing = useDoing(async (action: Exclude<Action, 'merge'>) => {
    await api.run(MUTATIONS[action], { input: { taskId: task.id } });
    refresh();
  });
  if (isReadOnly) return null;
  return (
    <div className="task-actions">
      {actionsFor(task).map((action) => (
        <button
          key={action}
          type="button"
          className={action === 'stop' ? 'danger' : action === 'resume' ? 'primary' : ''}
          disabled={doing.isBusy}
          onClick={() => (action === 'merge' ? setMerging(true) : void doing.run(action))}
        >
          {say(`do_${action}`)}
        </button>
      ))}
      <Refusal error={doing.error} />
      {isMerging && <MergeDialog taskId={task.id} go={go} close={() => setMerging(false)} />}
    </div>
  );
}

function MergeDialog({ taskId, go, close }: { taskId: string; go: (hash: string) => void; close: () => void }) {
  const { api, say } = useStudio();
  const { workspaceId } = useRoom();
  const { list, error, refresh, more } = useLivePages(
    TaskList,
    { id: workspaceId, kinds: null, statuses: MERGEABLE, first: 30 },
    { connection: ({ workspace }) => workspace?.tasks, concerns: ({ kind }) => kind.startsWith('TASK_') },
  );
  const doing = useDoing(async (intoTaskId: string) => {
    await api.run(MergeTasks, { input: { fromTaskId: taskId, intoTaskId } });
    close();
    go(linkTo(workspaceId, { taskId: intoTaskId }));
  });
  const others = list?.nodes.filter(({ id }) => id !== taskId);
  return (
    <Dialog title={say('mergeTitle')} close={close}>
      <p className="quiet">{say('mergeHint')}</p>
      {!others && <Notice error={error} retry={refresh} />}
      {others?.length === 0 && <p>{say('noOtherTasks')}</p>}
      <ul className="choices">
        {others?.map((task) => (
          <li key={task.id}>
            <button type="button" className="plain" disabled={doing.isBusy} onClick={() => void doing.run(task.id)}>
              <span className="clip">{task.title}</span> <TaskPill status={task.status} />
            </button>
          </li>
        ))}
      </ul>
      <More list={list} more={more} />
      <Refusal error={doing.error} />
    </Dialog>
  );
}
