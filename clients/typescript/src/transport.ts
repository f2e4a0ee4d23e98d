/**
 * Requests over HTTP, and the address and the token of everything else.
 *
 * Invariants
 * - What was refused is never sent again. What was lost is, where sending it twice is the same as once: queries, and
 *   mutations that carry an idempotency key.
 *
 * Not here: subscriptions (`feed`), live documents (`live`).
 */
import { AtelierError, refusal, unreachable, type GraphQLFault } from './errors.js';
import { pauseBefore, wait, type Pauses } from './waiting.js';

/** How a program reaches a server. */
export interface AtelierOptions {
  /** Where the server is, such as `https://atelier.example`. */
  readonly url: string;
  /** The secret of a token, or what gives the present one: it is asked for each request and connection. */
  readonly token: string | (() => string | Promise<string>);
  /** The class of sockets; Node before version 22 has none of its own, `ws` brings one. */
  readonly WebSocket?: unknown;
  /** In place of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** How often a lost request is sent again; 5 where nothing is said. */
  readonly retries?: number;
}

/** What one request may say besides. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
}

const PAUSES: Pauses = { shortest: 200, longest: 5_000 };
const ACCEPT = 'application/graphql-response+json, application/json;q=0.9';

export class Transport {
  /** Without a slash at its end. */
  readonly url: string;
  private readonly retries: number;

  constructor(private readonly options: AtelierOptions) {
    this.url = options.url.replace(/\/+$/, '');
    this.retries = options.retries ?? 5;
  }

  /** The address of a socket at this path. */
  socketUrl(path: string): string {
    return this.url.replace(/^http/, 'ws') + path;
  }

  /** The class of sockets. */
  get WebSocket(): typeof WebSocket {
    const found = this.options.WebSocket ?? globalThis.WebSocket;
    if (found) return found as typeof WebSocket;
    throw new TypeError("there is no global WebSocket here: pass `WebSocket` from 'ws' in the options of Atelier");
  }

  async token(): Promise<string> {
    const { token } = this.options;
    return typeof token === 'string' ? token : token();
  }

  /** Runs a GraphQL document and returns its data. */
  async graphql(query: string, variables: object, isRepeatable: boolean, { signal }: RequestOptions): Promise<unknown> {
    const body = JSON.stringify({ query, variables });
    return this.persist(isRepeatable, signal, async () => {
      const headers = { 'content-type': 'application/json', accept: ACCEPT };
      const response = await this.send('/graphql', { method: 'POST', headers, body, signal: signal ?? null });
      const { data, errors } = await readAnswer(response);
      if (errors?.length) throw refusal(errors);
      if (!data) throw new AtelierError('UNAVAILABLE', `the server answered ${response.status} without data`);
      return data;
    });
  }

  /** Sends one request with the token; an absolute address is left as it is. */
  async send(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${await this.token()}`);
    const ask = this.options.fetch ?? globalThis.fetch;
    try {
      return await ask(new URL(path, `${this.url}/`), { ...init, headers });
    } catch (cause) {
      init.signal?.throwIfAborted();
      throw unreachable(cause);
    }
  }

  /** Tries until it succeeds, is refused, or was tried often enough. */
  async persist<T>(isRepeatable: boolean, signal: AbortSignal | undefined, attempt: () => Promise<T>): Promise<T> {
    for (let failures = 0; ; failures += 1) {
      try {
        return await attempt();
      } catch (reason) {
        const isLost = reason instanceof AtelierError && reason.isPassing;
        if (!isRepeatable || !isLost || failures >= this.retries) throw reason;
        await wait(Math.max(pauseBefore(failures, PAUSES), reason.retryAfterMs ?? 0), signal);
        signal?.throwIfAborted();
      }
    }
  }
}

interface Answer {
  data?: unknown;
  errors?: GraphQLFault[];
}

/** Reads an answer; what is no GraphQL comes from something between here and the server. */
export async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text().catch((cause: unknown) => {
    throw unreachable(cause);
  });
  try {
    return JSON.parse(text) as Answer;
  } catch (cause) {
    const code = response.status === 401 ? 'UNAUTHENTICATED' : 'UNAVAILABLE';
    throw new AtelierError(code, `the server answered ${response.status} without JSON`, [], cause);
  }
}
