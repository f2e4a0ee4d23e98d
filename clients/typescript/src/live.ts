/**
 * A work as a Yjs document that is edited together with everybody who has it open.
 *
 * Invariants
 * - What is edited without a connection stays in the document, and is sent when the connection is back.
 * - `saved` says that edits are stored, never only that they were sent.
 * - A refusal of the server (no permission, no such work, a bad token) closes it for good, with the reason.
 *
 * Not here: how it is counted what is stored (`ledger`).
 */
import { HocuspocusProvider, HocuspocusProviderWebsocket, WebSocketStatus } from '@hocuspocus/provider';
import type { Awareness } from 'y-protocols/awareness';
import * as Y from 'yjs';

import { AtelierError, closed as meaningOfClose } from './errors.js';
import { Ledger, type Account } from './ledger.js';
import type { Transport } from './transport.js';

/** How a work is opened. */
export interface LiveOptions {
  /** A document that goes on: kept from earlier, or bound to an editor already. A new one where none is given. */
  readonly document?: Y.Doc;
}

export type LiveState = 'connecting' | 'connected' | 'disconnected' | 'closed';

/** How a lost server is looked for: soon, and never given up. */
const PATIENCE = { delay: 250, factor: 1.6, minDelay: 200, maxDelay: 2_000, maxAttempts: 0 };

/** Says why a work was refused, in a code. */
export type Judge = (workId: string, reason: string) => Promise<AtelierError>;

export class Live {
  readonly document: Y.Doc;
  /** Who is here, and where; the server sets name and id of each. `nodeId` of the own state is shown as presence. */
  readonly awareness: Awareness;
  private current: LiveState = 'connecting';
  private ending: AtelierError | undefined;
  private isLoaded = false;
  private readonly ledger = new Ledger(() => this.tell());
  private readonly listeners = new Set<() => void>();
  private readonly socket: HocuspocusProviderWebsocket;
  private readonly provider: HocuspocusProvider;
  private readonly note = (_update: Uint8Array, origin: unknown): void => {
    if (origin !== this.provider) this.ledger.edited();
  };

  constructor(
    readonly workId: string,
    transport: Transport,
    private readonly judge: Judge,
    { document = new Y.Doc() }: LiveOptions = {},
  ) {
    this.document = document;
    // Before the provider listens: an edit is counted before its frame is sent.
    document.on('update', this.note);
    const WebSocketPolyfill = watched(transport.WebSocket, () => this.ledger.open());
    this.socket = new HocuspocusProviderWebsocket({ url: transport.socketUrl('/collab'), WebSocketPolyfill, ...PATIENCE });
    const token = async (): Promise<string> => transport.token();
    this.provider = new HocuspocusProvider({ websocketProvider: this.socket, name: workId, document, token });
    this.awareness = this.provider.awareness as Awareness;
    this.listen();
    this.provider.attach();
  }

  get state(): LiveState {
    return this.current;
  }

  /** Why it is closed; none where it was closed from here, or is not. */
  get error(): AtelierError | undefined {
    return this.ending;
  }

  /** Whether the server does not have all edits yet. */
  get hasUnsaved(): boolean {
    return this.ledger.hasUnsaved;
  }

  /** Whether the server takes no edits from here. Known once loaded. */
  get isReadOnly(): boolean {
    return this.provider.authorizedScope === 'readonly';
  }

  /** Resolves when the document holds what the server has; rejects where the work is refused. */
  async loaded(): Promise<void> {
    await this.until(() => this.isLoaded);
  }

  /** Resolves when all edits that were made so far are stored; rejects where the server does not take them. */
  saved(): Promise<void> {
    return this.ledger.whenSaved();
  }

  /** Calls whenever state, or what is saved, may have changed, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Leaves at once; `await saved()` first where edits are to arrive. The document stays as it is. */
  close(): void {
    this.finish(undefined);
  }

  private listen(): void {
    this.provider.on('synced', () => {
      this.isLoaded = true;
      this.tell();
    });
    this.provider.on('authenticated', () => this.allowed());
    this.provider.on('status', ({ status }: { status: WebSocketStatus }) => this.become(status));
    this.provider.on('authenticationFailed', ({ reason }: { reason: string }) => void this.refused(reason));
    this.socket.on('close', ({ event }: { event?: { code?: number; reason?: string } }) => {
      const { code, reason } = event ?? {};
      const meant = code === undefined ? undefined : meaningOfClose(code, reason ?? '');
      // Where the token was refused, that was said inside the connection before, with a reason.
      if (meant && meant.code !== 'UNAUTHENTICATED') this.finish(meant);
    });
  }

  private async refused(reason: string): Promise<void> {
    // No more attempts while the code is found out.
    this.socket.disconnect();
    this.finish(await this.judge(this.workId, reason));
  }

  /** Rights may have grown while it was open: then what was refused before is offered again. */
  private allowed(): void {
    if (!this.isReadOnly && this.ledger.wasRefused) this.provider.forceSync();
    this.tell();
  }

  private become(status: WebSocketStatus): void {
    if (this.current !== 'closed') this.current = status;
    this.tell();
  }

  private finish(reason: AtelierError | undefined): void {
    if (this.current === 'closed') return;
    this.current = 'closed';
    this.ending = reason;
    this.document.off('update', this.note);
    this.ledger.end(reason ?? new AtelierError('CONFLICT', 'the work was closed before all edits were stored'));
    this.provider.destroy();
    this.socket.destroy();
    this.tell();
  }

  private until(isTrue: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (!isTrue() && this.current !== 'closed') return;
        this.listeners.delete(look);
        if (isTrue()) resolve();
        else reject(this.ending ?? new AtelierError('CONFLICT', 'the work was closed'));
      };
      this.listeners.add(look);
      look();
    });
  }

  private tell(): void {
    for (const listener of [...this.listeners]) listener();
  }
}

/** A class of sockets whose frames are noted, those that go and those that come. */
function watched(Base: typeof WebSocket, open: () => Account): typeof WebSocket {
  return class extends Base {
    private readonly account = open();

    constructor(url: string | URL) {
      super(url);
      this.addEventListener('message', ({ data }) => this.account.hear(data));
      // A socket that is let go while it still connects fails, and `ws` throws what nobody listens to.
      this.addEventListener('error', () => undefined);
    }

    override send(data: string | ArrayBufferLike | Blob | ArrayBufferView): void {
      this.account.send(data);
      super.send(data as ArrayBuffer);
    }
  };
}
