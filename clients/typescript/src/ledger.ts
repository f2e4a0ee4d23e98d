/**
 * Which edits of a live document the server has stored, counted on the wire itself.
 *
 * The provider's own count starts anew at each connection, so that it can reach zero while something that was typed
 * offline is still on its way. Here every frame that is answered by a sync status is remembered with the edits that its
 * answer proves; frames and answers of one connection come in one order.
 *
 * Invariants
 * - An edit counts as saved only when the server has acknowledged a frame that holds it, on the present connection.
 * - Before the whole document was sent on a connection (the answer to the server's step 1), no answer proves anything.
 * - After a refusal nothing counts as saved until the whole document was taken.
 */
import { createDecoder, readVarString, readVarUint } from 'lib0/decoding';

import { AtelierError } from './errors.js';

/** Message types of the protocol; sync messages and sync statuses are all that count here. */
const SYNC = 0;
const SYNC_STATUS = 8;
const SYNC_STEP_2 = 1;
const UPDATE = 2;

/** A frame that the server will answer: the edit up to which its answer proves that all are stored. */
interface Sent {
  readonly edit: number;
  readonly isWhole: boolean;
}

interface Waiting {
  readonly edit: number;
  resolve(): void;
  reject(reason: AtelierError): void;
}

export class Ledger {
  // What the document held at the beginning may be unknown to the server, so it counts as the first edit.
  private edits = 1;
  private saved = 0;
  private refusal: AtelierError | undefined;
  private account: Account | undefined;
  private waiting: Waiting[] = [];

  constructor(private readonly changed: () => void) {}

  get hasUnsaved(): boolean {
    return this.saved < this.edits;
  }

  /** Whether the server did not take something that the document holds. */
  get wasRefused(): boolean {
    return this.refusal !== undefined;
  }

  /** Counts an edit of this side. Called before its frame is sent. */
  edited(): void {
    this.edits += 1;
    this.changed();
  }

  /** Resolves when all edits so far are stored; rejects where the server does not take them. */
  whenSaved(): Promise<void> {
    if (!this.hasUnsaved) return Promise.resolve();
    if (this.refusal) return Promise.reject(this.refusal);
    const edit = this.edits;
    return new Promise((resolve, reject) => this.waiting.push({ edit, resolve, reject }));
  }

  /** Nothing more will be sent. */
  end(reason: AtelierError): void {
    this.refusal = reason;
    this.account = undefined;
    this.rejectAll(reason);
  }

  /** The account of a new connection; what is still heard on the one before proves nothing any more. */
  open(): Account {
    const account: Account = new Account(
      () => this.edits,
      (sent, isStored) => {
        if (account === this.account) this.answered(sent, isStored);
      },
    );
    this.account = account;
    return account;
  }

  private answered({ edit, isWhole }: Sent, isStored: boolean): void {
    if (!isStored) {
      this.refusal = new AtelierError('FORBIDDEN', 'the server does not take edits of this document from here');
      this.rejectAll(this.refusal);
    } else if (isWhole || !this.refusal) {
      this.refusal = undefined;
      this.saved = Math.max(this.saved, edit);
      const isDone = (waiting: Waiting): boolean => waiting.edit <= this.saved;
      const done = this.waiting.filter(isDone);
      this.waiting = this.waiting.filter((waiting) => !isDone(waiting));
      for (const { resolve } of done) resolve();
    }
    this.changed();
  }

  private rejectAll(reason: AtelierError): void {
    const { waiting } = this;
    this.waiting = [];
    for (const { reject } of waiting) reject(reason);
  }
}

/** One connection: frames that wait for their answers. */
export class Account {
  private readonly sent: Sent[] = [];
  private isWhole = false;

  constructor(
    private readonly edits: () => number,
    private readonly answered: (sent: Sent, isStored: boolean) => void,
  ) {}

  /** Notes a frame that is sent now. */
  send(frame: unknown): void {
    const { type, next } = read(frame);
    if (type !== SYNC || (next !== SYNC_STEP_2 && next !== UPDATE)) return;
    const isWhole = next === SYNC_STEP_2;
    this.isWhole ||= isWhole;
    // An update that waited for the connection is sent after later edits were made, and proves none of them.
    this.sent.push({ edit: this.isWhole ? this.edits() : 0, isWhole });
  }

  /** Takes notice of a frame that has come. */
  hear(frame: unknown): void {
    const { type, next } = read(frame);
    const answered = type === SYNC_STATUS ? this.sent.shift() : undefined;
    if (answered) this.answered(answered, next === 1);
  }
}

/** Type of a message, and the number that follows it; neither where the frame is about no document. */
function read(frame: unknown): { type?: number; next?: number } {
  const isBuffer = frame instanceof ArrayBuffer;
  if (!isBuffer && !(frame instanceof Uint8Array)) return {};
  const bytes = isBuffer ? new Uint8Array(frame) : frame;
  // A ping and its answer are single bytes.
  if (bytes.length < 2) return {};
  const decoder = createDecoder(bytes);
  readVarString(decoder);
  const type = readVarUint(decoder);
  return type === SYNC || type === SYNC_STATUS ? { type, next: readVarUint(decoder) } : { type };
}
