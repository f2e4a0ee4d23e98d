/** Where a task, a call or an order stands, as a word with a dot of its colour: the word alone says it too. */
import type { CallState, JobState, TaskStatus, TurnState } from '../operations/generated';
import { useStudio } from '../studio';

type Tone = 'busy' | 'asks' | 'rests' | 'good' | 'bad';

const TASK: Record<TaskStatus, Tone> = {
  QUEUED: 'busy',
  RUNNING: 'busy',
  WAITING_EXTERNAL: 'rests',
  WAITING_FOR_PERSON: 'asks',
  PAUSED: 'rests',
  BLOCKED: 'bad',
  STOPPED: 'rests',
  DELIVERED: 'good',
  ARCHIVED: 'rests',
};
const CALL: Record<CallState, Tone> = {
  PENDING: 'rests',
  STARTED: 'busy',
  DONE: 'good',
  FAILED: 'bad',
  OUTCOME_UNKNOWN: 'asks',
  REFUSED: 'bad',
};
const TURN: Record<TurnState, Tone> = {
  QUEUED: 'busy',
  RUNNING: 'busy',
  SUSPENDED: 'rests',
  COMPLETED: 'good',
  FAILED: 'bad',
  CANCELLED: 'rests',
};

const JOB: Record<JobState, Tone> = {
  AWAITING_APPROVAL: 'asks',
  SUBMITTING: 'busy',
  RUNNING: 'busy',
  SUCCEEDED: 'good',
  FAILED: 'bad',
  SUBMISSION_UNKNOWN: 'asks',
  CANCELLED: 'rests',
  DECLINED: 'rests',
};

/** Whether stored data name a state of a call. */
export function isCallState(state: unknown): state is CallState {
  return typeof state === 'string' && Object.hasOwn(CALL, state);
}

export function TaskPill({ status }: { status: TaskStatus }) {
  const { say } = useStudio();
  return <span className={`pill ${TASK[status]}`}>{say(`task_${status}`)}</span>;
}

export function CallPill({ state }: { state: CallState }) {
  const { say } = useStudio();
  return <span className={`pill ${CALL[state]}`}>{say(`call_${state}`)}</span>;
}

export function JobPill({ state }: { state: JobState }) {
  const { say } = useStudio();
  return <span className={`pill ${JOB[state]}`}>{say(`job_${state}`)}</span>;
}

export function TurnPill({ state }: { state: TurnState }) {
  const { say } = useStudio();
  return <span className={`pill ${TURN[state]}`}>{say(`turn_${state}`)}</span>;
}
