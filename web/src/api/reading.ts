/**
 * A query that is kept up to date: asked once, and again whenever something happened that it may show.
 *
 * Invariants
 * - At most one request is under way; what happens meanwhile makes for exactly one more, however much it was.
 * - What was answered last stays until something newer is there, also while the server is away.
 * - A server that is away, or asks for patience, is asked again by itself; every other refusal waits for a person.
 */
import { asApiError, isPassing, type ApiError } from './errors';

/** The least time between two requests, so that a busy agent does not cost a request for each event. */
const GAP_MS = 200;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 4_000;

export interface Answer<T> {
  data: T | null;
  error: ApiError | null;
}

export class Reading<T> {
  private answer: Answer<T> = { data: null, error: null };
  private isAsking = false;
  private isStale = false;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private retryMs = FIRST_RETRY_MS;
  private isClosed = false;
  private readonly listeners = new Set<() => void>();

  constructor(private readonly ask: () => Promise<T>) {}

  /** What is known, for `useSyncExternalStore`. */
  readonly current = (): Answer<T> => this.answer;

  readonly subscribe = (tell: () => void): (() => void) => {
    this.listeners.add(tell);
    return () => this.listeners.delete(tell);
  };

  /** Asks now, or once more after what is under way. */
  readonly refresh = (): void => {
    if (this.isClosed) return;
    if (this.isAsking) {
      this.isStale = true;
      return;
    }
    if (this.timer !== null) {
      clearTimeout(this.timer);
      this.timer = null;
    }
    void this.run();
  };

  /** Begins, also after it was let go: React opens and closes twice while developing. */
  open(): void {
    this.isClosed = false;
    this.isAsking = false;
  }

  /** Lets go; nothing is told afterwards. */
  close(): void {
    this.isClosed = true;
    if (this.timer !== null) clearTimeout(this.timer);
  }

  private async run(): Promise<void> {
    this.isAsking = true;
    this.isStale = false;
    try {
      const data = await this.ask();
      this.retryMs = FIRST_RETRY_MS;
      this.tell({ data, error: null });
    } catch (reason) {
      const error = asApiError(reason);
      this.tell({ data: this.answer.data, error });
      if (isPassing(error)) this.again();
    }
    // The gap belongs to the request, so that a hundred events in it make one more.
    this.later(GAP_MS, () => {
      this.isAsking = false;
      if (this.isStale) this.refresh();
    });
  }

  private again(): void {
    const wait = this.retryMs;
    this.retryMs = Math.min(wait * 2, LAST_RETRY_MS);
    this.timer = setTimeout(() => {
      this.timer = null;
      this.refresh();
    }, wait);
  }

  private later(ms: number, run: () => void): void {
    setTimeout(() => !this.isClosed && run(), ms);
  }

  private tell(answer: Answer<T>): void {
    if (this.isClosed) return;
    this.answer = answer;
    for (const tell of this.listeners) tell();
  }
}
