/**
 * The steps of all tasks, read task by task: what the API says of usage by day and by layer stands at the steps.
 *
 * Invariants
 * - One request at a time; what was read is told as it comes, so that a long way shows its progress.
 * - Only tasks that used something lately are walked through: a task's steps lie in the past of its last change.
 */
import type { Api } from '../api/client';
import { having } from '../api/operation';
import { readPages } from '../api/pages';
import { UsageSteps, UsageTasks, type UsageTasksQuery } from '../operations/generated';
import { MOST_DAYS, type StepUsage } from './tally';

export type UsedTask = NonNullable<UsageTasksQuery['workspace']>['tasks']['nodes'][number];

export interface Gathered {
  tasks: UsedTask[];
  steps: StepUsage[];
  /** How many tasks were walked through, of how many. */
  done: number;
  of: number;
}

const TASKS = 100;
const TURNS = 50;
const DAY_MS = 24 * 60 * 60 * 1_000;

/** Reads it all, telling how far it is, until it is done or nobody wants it any more. */
export async function gather(api: Api, workspaceId: string, tell: (gathered: Gathered) => void, isWanted: () => boolean): Promise<void> {
  const pages = await readPages(
    async (after) => (await api.run(UsageTasks, { id: workspaceId, first: TASKS, after })).workspace?.tasks,
    Number.POSITIVE_INFINITY,
  );
  const tasks = pages?.nodes ?? [];
  const since = Date.now() - MOST_DAYS * DAY_MS;
  const walked = tasks.filter(({ usage, updatedAt }) => usage.steps > 0 && Date.parse(updatedAt) >= since);
  const steps: StepUsage[] = [];
  tell({ tasks, steps: [...steps], done: 0, of: walked.length });
  for (const [index, { id }] of walked.entries()) {
    if (!isWanted()) return;
    const turns = await readPages(
      async (after) => having((await api.run(UsageSteps, { id, first: TURNS, after })).node, 'turns')?.turns,
      Number.POSITIVE_INFINITY,
    );
    for (const turn of turns?.nodes ?? []) steps.push(...turn.steps);
    tell({ tasks, steps: [...steps], done: index + 1, of: walked.length });
  }
}
