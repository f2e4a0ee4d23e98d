/** What is being done at this moment, in one line: the call under way, or that the next step is being decided. */
import type { CallState, TaskStatus, TurnState } from '../operations/generated';
import { isWord } from '../strings';
import { useStudio } from '../studio';

interface CallLine {
  tool: string;
  state: CallState;
  arguments: unknown;
}

interface TurnLine {
  number: number;
  state: TurnState;
  steps: { number: number; rationale: string; calls: CallLine[] }[];
}

export interface Doing {
  /** The tool that is under way, or null while the next step is being decided. */
  tool: string | null;
  /** What the agent itself calls it. */
  detail: string | null;
  turn: number;
  step: number;
}

/** What a task is at, from its newest turn; null while it is at nothing. */
export function doingOf(status: TaskStatus, turns: readonly TurnLine[]): Doing | null {
  if (status !== 'RUNNING' && status !== 'QUEUED') return null;
  const turn = turns.at(-1);
  if (!turn || (turn.state !== 'RUNNING' && turn.state !== 'QUEUED')) return { tool: null, detail: null, turn: 0, step: 0 };
  const step = turn.steps.at(-1);
  const call = step?.calls.find(({ state }) => state === 'STARTED') ?? step?.calls.find(({ state }) => state === 'PENDING');
  if (!step || !call) return { tool: null, detail: null, turn: turn.number, step: (step?.number ?? 0) + 1 };
  return { tool: call.tool, detail: detailOf(call.arguments), turn: turn.number, step: step.number };
}

/** The agent's own words for a call, where it has some. */
export function detailOf(values: unknown): string | null {
  if (typeof values !== 'object' || values === null) return null;
  for (const name of ['summary', 'purpose', 'title', 'query']) {
    const value = (values as Record<string, unknown>)[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return null;
}

interface Properties {
  task: { status: TaskStatus };
  turns: { nodes: readonly TurnLine[] } | null;
}

export function Now({ task, turns }: Properties) {
  const { say } = useStudio();
  const doing = turns && doingOf(task.status, turns.nodes);
  return (
    <p className={doing ? 'now' : 'now hidden'} role="status">
      {doing && (
        <>
          <span className="spinner" aria-hidden="true" />
          <b>{doing.tool ? <ToolName tool={doing.tool} /> : say('deciding')}</b>
          {doing.detail && <span className="clip"> {doing.detail}</span>}
          {doing.turn > 0 && <span className="quiet"> {say('turnStep', { turn: doing.turn, step: doing.step })}</span>}
        </>
      )}
    </p>
  );
}

/** A tool in words; one that is not known here under its own name. */
export function ToolName({ tool }: { tool: string }) {
  const { say } = useStudio();
  const word = `tool_${tool}`;
  return isWord(word) ? say(word) : tool;
}
