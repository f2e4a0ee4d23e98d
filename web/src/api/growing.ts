/**
 * A list that only grows at its end, such as a journal or a ledger: what was read is kept, and only what follows is asked for.
 *
 * Invariants
 * - At most one request is under way; what happens meanwhile makes for exactly one more.
 * - A server that is away, or asks for patience, is asked again by itself.
 */
import { asApiError, isPassing, type ApiError } from './errors';
import type { Connection } from './pages';

const RETRY_MS = 1_000;

export interface Grown<N> {
  /** Null until the first page is there. */
  nodes: readonly N[] | null;
  /** Whether all that there is has been read. */
  isWhole: boolean;
  error: ApiError | null;
}

export class Growing<N> {
  private grown: Grown<N> = { nodes: null, isWhole: false, error: null };
  private cursor: string | null = null;
  private isReading = false;
  private isStale = false;
  private isClosed = false;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private readonly listeners = new Set<() => void>();

  constructor(private readonly ask: (cursor: string | null) => Promise<Connection<N> | null | undefined>) {}

  readonly current = (): Grown<N> => this.grown;

  readonly subscribe = (tell: () => void): (() => void) => {
    this.listeners.add(tell);
    return () => this.listeners.delete(tell);
  };

  /** Reads what follows, now or once more after what is under way. */
  readonly read = (): void => {
    if (this.isClosed) return;
    this.isStale = true;
    if (!this.isReading) void this.run();
  };

  /** Begins, also after it was let go. */
  open(): void {
    this.isClosed = false;
  }

  close(): void {
    this.isClosed = true;
    if (this.timer !== null) clearTimeout(this.timer);
  }

  private async run(): Promise<void> {
    this.isReading = true;
    try {
      while (this.isStale && !this.isClosed) {
        this.isStale = false;
        const page = await this.ask(this.cursor);
        if (!page) break;
        this.cursor = page.pageInfo.endCursor ?? this.cursor;
        const hasMore = page.pageInfo.hasNextPage === true;
        this.isStale ||= hasMore;
        this.tell({ nodes: [...(this.grown.nodes ?? []), ...page.nodes], isWhole: !hasMore, error: null });
      }
    } catch (reason) {
      const error = asApiError(reason);
      this.tell({ ...this.grown, error });
      if (isPassing(error)) this.timer = setTimeout(this.read, RETRY_MS);
    } finally {
      this.isReading = false;
    }
  }

  private tell(grown: Grown<N>): void {
    if (this.isClosed) return;
    this.grown = grown;
    for (const listener of this.listeners) listener();
  }
}
