/**
 * Access to one Atelier server: queries and mutations, events, live documents, files.
 *
 * Invariants
 * - Every document is typed: its variables and its answer are those of the server's schema.
 * - A mutation that takes an idempotency key has one, so that sending it again after a lost answer has no second effect.
 */
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
import { print, type DocumentNode } from 'graphql';
import type { Client } from 'graphql-ws';

import { AtelierError } from './errors.js';
import { follow, socketOf, type Feed, type FeedOptions } from './feed.js';
import * as operations from './generated.js';
import { Live, type LiveOptions } from './live.js';
import { Transport, type AtelierOptions, type RequestOptions } from './transport.js';
import { blobOf, get, put, type UploadInput } from './upload.js';

/** A document whose variables and answer are known: one of this package, or made by a generator from the same schema. */
export type TypedDocument<R, V> = DocumentTypeDecoration<R, V> & (string | String | DocumentNode);

/** Variables may be left out where none is needed. */
type Variables<V> = Record<string, never> extends V ? [variables?: V, options?: RequestOptions] : [variables: V, options?: RequestOptions];

/** A page of a list. */
export interface Page<T> {
  readonly nodes: readonly T[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

type Found<Q, T extends string> = Extract<NonNullable<Q extends { node: infer N } ? N : never>, { __typename: T }>;

export type WorkspaceEvent = operations.WorkspaceEventsSubscription['workspaceEvents'];
export type WorkChange = operations.WorkChangesSubscription['workChanges'];
export type Present = operations.PresenceSubscription['presence'][number];
export type Asset = Found<operations.WorkQuery, 'Asset'>;

export class Atelier {
  private readonly transport: Transport;
  private sockets: Client | undefined;

  constructor(options: AtelierOptions) {
    this.transport = new Transport(options);
  }

  /** Runs a query or a mutation; throws an `AtelierError` where any part of it was refused. */
  async run<R, V extends object>(document: TypedDocument<R, V>, ...[variables, options]: Variables<V>): Promise<R> {
    const query = textOf(document);
    const all = withKey(query, (variables ?? {}) as Record<string, unknown>);
    const isRepeatable = !MUTATION.test(query) || keyOf(all) !== undefined;
    return (await this.transport.graphql(query, all, isRepeatable, options ?? {})) as R;
  }

  /** Hands out the nodes of a list, page by page; `pick` finds the page in an answer, or nothing where there is no such list. */
  async *pages<R, V extends object, T>(
    document: TypedDocument<R, V>,
    variables: V,
    pick: (data: R) => Page<T> | null | undefined,
  ): AsyncGenerator<T, void, undefined> {
    for (let after: object = {}; ; ) {
      const page = pick(await this.run<R, object>(document as TypedDocument<R, object>, { ...variables, ...after }));
      yield* page?.nodes ?? [];
      if (!page?.pageInfo.hasNextPage) return;
      after = { after: page.pageInfo.endCursor };
    }
  }

  /**
   * Everything that happens in a workspace after this cursor, in order, none lost and none twice over all interruptions;
   * without a cursor from now on. Keep `event.cursor` of the last event that was dealt with, to go on from there another day.
   */
  async *workspaceEvents(workspaceId: string, options: FeedOptions & { after?: string } = {}): AsyncGenerator<WorkspaceEvent, void, undefined> {
    const after = options.after ?? (await this.cursorOf(workspaceId));
    yield* this.follow(operations.WorkspaceEvents, options, {
      variables: (last) => ({ workspaceId, after: last?.cursor ?? after }),
      pick: ({ workspaceEvents }) => workspaceEvents,
    });
  }

  /** The same for one task; the cursors are those of its workspace's log. */
  async *taskEvents(taskId: string, options: FeedOptions & { after?: string } = {}): AsyncGenerator<WorkspaceEvent, void, undefined> {
    const after = options.after ?? (await this.cursorOfTask(taskId));
    yield* this.follow(operations.TaskEvents, options, {
      variables: (last) => ({ taskId, after: last?.cursor ?? after }),
      pick: ({ taskEvents }) => taskEvents,
    });
  }

  /** Every change of a work after this version, without a gap; without a version from now on. */
  async *workChanges(workId: string, options: FeedOptions & { afterVersion?: number } = {}): AsyncGenerator<WorkChange, void, undefined> {
    const afterVersion = options.afterVersion ?? (await this.versionOf(workId));
    yield* this.follow(operations.WorkChanges, options, {
      variables: (last) => ({ workId, afterVersion: last?.version ?? afterVersion }),
      pick: ({ workChanges }) => workChanges,
    });
  }

  /** Who is at a work: now, and after each change. */
  presence(workId: string, options: FeedOptions = {}): AsyncGenerator<Present[], void, undefined> {
    return this.follow(operations.Presence, options, { variables: () => ({ workId }), pick: ({ presence }) => presence });
  }

  /** Opens a work for live editing; returns when its content is there. */
  async open(workId: string, options?: LiveOptions): Promise<Live> {
    const live = this.connect(workId, options);
    await live.loaded();
    return live;
  }

  /** The same without waiting: an editor can be shown, and typed into, before the server is reached. */
  connect(workId: string, options?: LiveOptions): Live {
    return new Live(workId, this.transport, (id, reason) => this.whyRefused(id, reason), options);
  }

  /** Sends a file; returns its asset when the server has all of it. */
  async upload(input: UploadInput, options: RequestOptions = {}): Promise<Asset> {
    const { workspaceId, title, workId } = input;
    const blob = blobOf(input);
    const described = { workspaceId, title, mediaType: blob.type, byteSize: blob.size, ...(workId && { workId }) };
    const { createUpload } = await this.run(operations.CreateUpload, { input: described }, options);
    await put(this.transport, createUpload.uploadUrl, blob, options);
    const { node } = await this.run(operations.Work, { id: createUpload.asset.id }, options);
    if (node?.__typename === 'Asset') return node;
    throw new AtelierError('NOT_FOUND', `asset ${createUpload.asset.id} was deleted while it was uploaded`);
  }

  /** Reads the bytes of an asset, by its `url` or `previewUrl`. */
  download(url: string, options: RequestOptions = {}): Promise<Response> {
    return get(this.transport, url, options);
  }

  /** Closes the socket of subscriptions. Feeds that are still read take it up again; end them by their signal. */
  async close(): Promise<void> {
    await this.sockets?.dispose();
    this.sockets = undefined;
  }

  private follow<R, V extends object, T>(
    document: TypedDocument<R, V>,
    options: FeedOptions,
    feed: { variables(last: T | undefined): V; pick(data: R): T },
  ): AsyncGenerator<T, void, undefined> {
    this.sockets ??= socketOf(this.transport);
    return follow(this.sockets, { ...feed, query: textOf(document) } as Feed<T>, options);
  }

  private async cursorOf(workspaceId: string): Promise<string> {
    const { workspace } = await this.run(operations.EventCursor, { workspaceId });
    return found(workspace, workspaceId).eventCursor;
  }

  private async cursorOfTask(taskId: string): Promise<string> {
    const { node } = await this.run(operations.TaskEventCursor, { taskId });
    return found(node && 'workspace' in node ? node.workspace : null, taskId).eventCursor;
  }

  private async versionOf(workId: string): Promise<number> {
    const { node } = await this.run(operations.WorkVersion, { workId });
    return found(node && 'version' in node ? node : null, workId).version;
  }

  /** A refused connection tells only words; what the API says of the same work has a code. */
  private async whyRefused(workId: string, reason: string): Promise<AtelierError> {
    try {
      const { node } = await this.run(operations.WorkVersion, { workId });
      return new AtelierError(node ? 'FORBIDDEN' : 'NOT_FOUND', reason);
    } catch (error) {
      const isToken = error instanceof AtelierError && error.code === 'UNAUTHENTICATED';
      return new AtelierError(isToken ? 'UNAUTHENTICATED' : 'FORBIDDEN', reason, [], error);
    }
  }
}

const MUTATION = /^\s*mutation\b/;
const MUTATION_NAME = /^\s*mutation\s+(\w+)/;

function textOf(document: unknown): string {
  const isText = typeof document === 'string' || document instanceof String;
  return isText ? document.toString() : print(document as DocumentNode);
}

function keyOf({ input }: Record<string, unknown>): unknown {
  return (input as { idempotencyKey?: unknown } | undefined)?.idempotencyKey ?? undefined;
}

/** The variables, with a key where the operation takes one and has none. */
function withKey(query: string, variables: Record<string, unknown>): Record<string, unknown> {
  const name = MUTATION_NAME.exec(query)?.[1] ?? '';
  if (!operations.KEYED.has(name) || keyOf(variables) !== undefined) return variables;
  return { ...variables, input: { ...(variables['input'] as object), idempotencyKey: newKey() } };
}

/** `randomUUID` would do, but browsers have it on encrypted pages only. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function found<T>(what: T | null, id: string): T {
  if (what) return what;
  throw new AtelierError('NOT_FOUND', `${id} was not found`);
}
