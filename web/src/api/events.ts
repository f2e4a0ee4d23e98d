/**
 * What happens in a workspace, told to every part of the studio that wants to know.
 *
 * Invariants
 * - One subscription for the whole workspace, from the cursor that stood before the first query was asked.
 */
import type { Api, WorkspaceEvent } from './client';
import { asApiError, isPassing } from './errors';
import { Beginning } from '../operations/generated';

export type Listener = (event: WorkspaceEvent) => void;

const RETRY_MS = 1_000;

export class EventHub {
  private readonly listeners = new Set<Listener>();
  private stop: (() => void) | null = null;
  private isClosed = false;

  constructor(
    private readonly api: Api,
    private readonly workspaceId: string,
  ) {}

  /** Reads where the log stands and follows it from there; what is asked afterwards misses nothing. */
  async open(): Promise<void> {
    this.isClosed = false;
    while (!this.isClosed) {
      try {
        const { workspace } = await this.api.run(Beginning, { id: this.workspaceId });
        if (workspace && !this.isClosed) this.stop = this.api.follow(this.workspaceId, workspace.eventCursor, this.tell);
        return;
      } catch (reason) {
        if (!isPassing(asApiError(reason))) return;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  /** Tells of each event until the returned function is called. */
  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  close(): void {
    this.isClosed = true;
    this.stop?.();
  }

  private readonly tell = (event: WorkspaceEvent): void => {
    for (const listener of this.listeners) listener(event);
  };
}

/** Whether money was set aside, spent or given back, or limits were set. */
export function isOfBudget({ kind }: WorkspaceEvent): boolean {
  return kind === 'BUDGET_CHANGED';
}

/** The task that an event is about: its subject, or that of the message, card or order. */
export function taskOf({ subject }: WorkspaceEvent): string | null {
  if (!subject) return null;
  if (subject.__typename === 'Task') return subject.id;
  if (subject.__typename === 'Message' || subject.__typename === 'Card' || subject.__typename === 'GenerationJob') {
    return subject.task?.id ?? null;
  }
  return null;
}
