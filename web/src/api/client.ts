/**
 * The public GraphQL API as the studio uses it: queries and mutations over HTTP, events over one WebSocket.
 *
 * Invariants
 * - Every refusal reaches the caller as an `ApiError` with the server's code and words.
 * - Events are asked for with the cursor of the last one seen, so none is lost over a reconnect and none comes twice.
 */
import { createClient, type Client } from 'graphql-ws';

import { ApiError } from './errors';
import type { Operation } from './operation';
import { Happenings, type HappeningsSubscription } from '../operations/generated';

interface GraphQLResponse<T> {
  data?: T | null;
  errors?: { message: string; extensions?: { code?: string } }[];
}

export type WorkspaceEvent = HappeningsSubscription['workspaceEvents'];

/** Whether the line to the server stands. */
export type LineState = 'connecting' | 'connected' | 'lost';

/** Access to one server as one person. */
export class Api {
  private readonly sockets: Client;
  private lineState: LineState = 'connecting';
  private readonly listeners = new Set<() => void>();

  constructor(readonly token: string) {
    this.sockets = createSocketClient(token);
    this.sockets.on('connected', () => this.become('connected'));
    this.sockets.on('closed', () => this.become(this.lineState === 'connecting' ? 'connecting' : 'lost'));
  }

  /** Runs a query or a mutation; throws where any part of it was refused. */
  async run<R, V extends object>(operation: Operation<R, V>, variables: V): Promise<R> {
    const response = await request(this.token, { query: operation, variables });
    const { data, errors } = (await readJson(response)) as GraphQLResponse<R>;
    const error = errors?.[0];
    if (error) throw new ApiError(error.extensions?.code ?? 'UNKNOWN', error.message);
    if (!data) throw new ApiError('UNAVAILABLE', `HTTP ${response.status}`);
    return data;
  }

  /** Tells of every event of a workspace after this cursor, until the returned function is called. */
  follow(workspaceId: string, after: string, tell: (event: WorkspaceEvent) => void): () => void {
    // The client sends this same object at each reconnect, so moving `after` on is all that resuming takes.
    const variables = { workspaceId, after };
    return this.sockets.subscribe<HappeningsSubscription>(
      { query: Happenings, variables },
      {
        next: ({ data }) => {
          if (!data) return;
          variables.after = data.workspaceEvents.cursor;
          tell(data.workspaceEvents);
        },
        // What is shown stays as it is, and is read anew at the next visit.
        error: (reason) => {
          console.warn('the events of the workspace ended', reason);
          this.become('lost');
        },
        complete: () => undefined,
      },
    );
  }

  /** Where the line stands, for `useSyncExternalStore`. */
  readonly line = (): LineState => this.lineState;

  /** Tells when the line changes. */
  readonly watchLine = (tell: () => void): (() => void) => {
    this.listeners.add(tell);
    return () => this.listeners.delete(tell);
  };

  /** Closes what is open. */
  dispose(): void {
    void this.sockets.dispose();
  }

  private become(state: LineState): void {
    this.lineState = state;
    for (const tell of this.listeners) tell();
  }
}

/** A client for subscriptions that comes back after every interruption but a refused token. */
export function createSocketClient(token: string): Client {
  return createClient({
    url: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/graphql`,
    connectionParams: () => ({ authorization: `Bearer ${token}` }),
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: (reason) => !(reason instanceof CloseEvent && [4401, 4403].includes(reason.code)),
    // A server that was restarted is found again within two seconds, also after a long time away.
    retryWait: (retries) => new Promise((resolve) => setTimeout(resolve, Math.min(200 * 2 ** retries, 2_000))),
    keepAlive: 10_000,
  });
}

/** Sends a GraphQL request; only a server that can not be reached makes it throw. */
export async function request(token: string, body: object): Promise<Response> {
  try {
    return await fetch('/graphql', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/graphql-response+json, application/json;q=0.9',
      },
      body: JSON.stringify(body),
    });
  } catch (reason) {
    throw new ApiError('UNAVAILABLE', String(reason));
  }
}

/** Reads an answer of the server, which is JSON also where it is a refusal. */
async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    const code = response.status === 401 ? 'UNAUTHENTICATED' : 'UNAVAILABLE';
    throw new ApiError(code, `HTTP ${response.status}`);
  }
}
