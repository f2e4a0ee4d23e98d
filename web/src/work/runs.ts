/**
 * What runs for the nodes of a flow: the newest order at a media provider whose item has the node's id, of any task that works on it.
 */
import { having } from '../api/operation';
import { WorkRuns, type WorkLineFragment, type JobState } from '../operations/generated';
import { useLiveQuery } from '../studio';
import { useMemo } from 'react';

export interface Run {
  state: JobState;
  progress: number;
  error: string | null;
  /** What came of it. */
  output: WorkLineFragment | null;
}

export type Runs = ReadonlyMap<string, Run>;

export const NO_RUNS: Runs = new Map();

export function useRuns(workId: string): Runs {
  const { data } = useLiveQuery(
    WorkRuns,
    { id: workId },
    ({ kind, subject }) => kind.startsWith('JOB_') || (kind === 'TASK_UPDATED' && subject !== null),
  );
  return useMemo(() => runsOf(having(data?.node, 'linkedTasks')?.linkedTasks ?? []), [data]);
}

interface OrderLine extends Omit<Run, 'output'> {
  itemId: string | null;
  updatedAt: string;
  outputs: WorkLineFragment[];
}

/** The newest order of each node. */
export function runsOf(tasks: readonly { jobs: readonly OrderLine[] }[]): Runs {
  const orders = tasks.flatMap(({ jobs }) => jobs).sort((one, other) => one.updatedAt.localeCompare(other.updatedAt));
  return new Map(
    orders.flatMap(({ itemId, state, progress, error, outputs }) =>
      itemId === null ? [] : [[itemId, { state, progress, error, output: outputs[0] ?? null }] as const],
    ),
  );
}
