/**
 * Subscriptions that outlive connections and servers.
 *
 * Invariants
 * - After every interruption the server is asked for what follows the last item that was handed out, so that nothing is
 *   lost and nothing comes twice.
 * - At most `buffer` items wait for a slow reader: then the subscription ends, and is taken up again from the last of them.
 * - What the server refuses for good ends the feed with an `AtelierError`; everything else is tried again, forever.
 */
import { createClient, type Client } from 'graphql-ws';

import { AtelierError, closed, refusal, unreachable, type GraphQLFault } from './errors.js';
import type { Transport } from './transport.js';
import { pauseBefore, wait, type Pauses } from './waiting.js';

/** How a feed is read. */
export interface FeedOptions {
  /** Ends the feed, without an error. */
  readonly signal?: AbortSignal | undefined;
  /** How many items may wait for the reader; 1000 where nothing is said. */
  readonly buffer?: number | undefined;
  /** Is told each time the line was lost and will be taken up again. */
  readonly onInterruption?: ((reason: AtelierError) => void) | undefined;
}

/** A subscription that can be resumed: what to ask for, and what one answer holds. */
export interface Feed<T> {
  readonly query: string;
  /** The variables that ask for everything after the last item; none before the first. */
  variables(last: T | undefined): object;
  pick(data: unknown): T;
}

const BUFFER = 1_000;
const PAUSES: Pauses = { shortest: 200, longest: 2_000 };
const KEEP_ALIVE_MS = 10_000;
const PONG_MS = 5_000;

/** One socket for all subscriptions, there while somebody listens. */
export function socketOf(transport: Transport): Client {
  let silence: ReturnType<typeof setTimeout> | undefined;
  const client = createClient({
    url: transport.socketUrl('/graphql'),
    webSocketImpl: transport.WebSocket,
    connectionParams: async () => ({ authorization: `Bearer ${await transport.token()}` }),
    // Feeds come back by themselves: only they know where they stood.
    retryAttempts: 0,
    keepAlive: KEEP_ALIVE_MS,
    on: {
      ping: (isReceived) => {
        if (!isReceived) silence = setTimeout(() => client.terminate(), PONG_MS);
      },
      pong: (isReceived) => {
        if (isReceived) clearTimeout(silence);
      },
      closed: () => clearTimeout(silence),
    },
  });
  return client;
}

/** Hands out every item, over all interruptions. */
export async function* follow<T>(socket: Client, feed: Feed<T>, options: FeedOptions): AsyncGenerator<T, void, undefined> {
  let last: T | undefined;
  let failures = 0;
  while (!options.signal?.aborted) {
    const line = new Line(socket, { query: feed.query, variables: { ...feed.variables(last) } }, options);
    try {
      for (let data = await line.next(); data !== undefined; data = await line.next()) {
        failures = 0;
        last = feed.pick(data);
        yield last;
      }
    } finally {
      line.close();
    }
    const { ending } = line;
    if (!ending || options.signal?.aborted) continue;
    if (!ending.isPassing) throw ending;
    options.onInterruption?.(ending);
    await wait(pauseBefore(failures, PAUSES), options.signal);
    failures += 1;
  }
}

/** One subscription on one connection: what came, in order, and then why no more came. */
class Line {
  /** Why it ended; none where it was let go because its reader is slow. */
  ending: AtelierError | undefined;
  private readonly waiting: unknown[] = [];
  private hasEnded = false;
  private wake: (() => void) | undefined;
  private readonly unsubscribe: () => void;
  private readonly stop = (): void => this.close();

  constructor(
    socket: Client,
    request: { query: string; variables: Record<string, unknown> },
    private readonly options: FeedOptions,
  ) {
    options.signal?.addEventListener('abort', this.stop);
    this.unsubscribe = socket.subscribe<unknown>(request, {
      next: ({ data, errors }) => this.take(data, errors),
      error: (reason) => this.end(meaningOf(reason)),
      // These subscriptions have no end of their own.
      complete: () => this.end(unreachable('the subscription was completed')),
    });
  }

  /** The next answer; nothing where no more comes. */
  async next(): Promise<unknown> {
    while (this.waiting.length === 0 && !this.hasEnded) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    return this.options.signal?.aborted ? undefined : this.waiting.shift();
  }

  close(): void {
    this.options.signal?.removeEventListener('abort', this.stop);
    this.end(undefined);
    this.unsubscribe();
  }

  private take(data: unknown, errors: readonly GraphQLFault[] | undefined): void {
    if (this.hasEnded) return;
    if (errors?.length) return this.end(refusal(errors));
    this.waiting.push(data);
    this.wake?.();
    if (this.waiting.length >= (this.options.buffer ?? BUFFER)) this.close();
  }

  private end(ending: AtelierError | undefined): void {
    if (this.hasEnded) return;
    this.ending = ending;
    this.hasEnded = true;
    this.wake?.();
  }
}

/** What `graphql-ws` reports: the server's errors, a closed socket, or whatever broke. */
function meaningOf(reason: unknown): AtelierError {
  if (Array.isArray(reason)) return refusal(reason as GraphQLFault[]);
  if (reason instanceof AtelierError) return reason;
  const { code, reason: words } = (reason ?? {}) as { code?: unknown; reason?: unknown };
  if (typeof code !== 'number') return unreachable(reason);
  return closed(code, String(words ?? '')) ?? unreachable(`the socket closed with ${code}`);
}
