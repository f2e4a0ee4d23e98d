/**
 * Messages that were written and are not yet seen in their thread: shown at once, sent until the server has them.
 *
 * Invariants
 * - A message keeps its idempotency key over all attempts, so that an answer that was lost makes no second message.
 * - A server that is away is asked again by itself; a refusal stays with its words until the person sends or drops it.
 * - An entry goes when its message is in the thread, never before, so that nothing is missing in between.
 */
import { asApiError, isPassing, type ApiError } from '../api/errors';

export interface Draft {
  text: string;
  attachmentIds: string[];
}

export interface Entry extends Draft {
  key: string;
  error: ApiError | null;
  /** Set when the server has it. */
  messageId: string | null;
}

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 5_000;

export class Outbox {
  private entries: readonly Entry[] = [];
  private readonly listeners = new Set<() => void>();
  private readonly timers = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(private readonly send: (draft: Draft, key: string) => Promise<string>) {}

  readonly current = (): readonly Entry[] => this.entries;

  readonly subscribe = (tell: () => void): (() => void) => {
    this.listeners.add(tell);
    return () => this.listeners.delete(tell);
  };

  /** Takes a message and sends it. */
  post(draft: Draft): void {
    const key = randomKey();
    this.show([...this.entries, { ...draft, key, error: null, messageId: null }]);
    void this.attempt(key, FIRST_RETRY_MS);
  }

  /** Sends one again that was refused. */
  retry(key: string): void {
    this.change(key, { error: null });
    void this.attempt(key, FIRST_RETRY_MS);
  }

  /** Drops one that was refused. */
  drop(key: string): void {
    clearTimeout(this.timers.get(key));
    this.show(this.entries.filter((entry) => entry.key !== key));
  }

  /** Lets go of what stands in the thread by now. */
  settle(messageIds: ReadonlySet<string>): void {
    const left = this.entries.filter(({ messageId }) => messageId === null || !messageIds.has(messageId));
    if (left.length !== this.entries.length) this.show(left);
  }

  private async attempt(key: string, wait: number): Promise<void> {
    const entry = this.entries.find((each) => each.key === key);
    if (!entry) return;
    try {
      this.change(key, { messageId: await this.send(entry, key), error: null });
    } catch (reason) {
      const error = asApiError(reason);
      this.change(key, { error });
      if (!isPassing(error)) return;
      this.timers.set(key, setTimeout(() => void this.attempt(key, Math.min(wait * 2, LAST_RETRY_MS)), wait));
    }
  }

  private change(key: string, part: Partial<Entry>): void {
    this.show(this.entries.map((entry) => (entry.key === key ? { ...entry, ...part } : entry)));
  }

  private show(entries: readonly Entry[]): void {
    this.entries = entries;
    for (const tell of this.listeners) tell();
  }
}

/** Not `randomUUID`: browsers keep that from pages that came over plain HTTP. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
