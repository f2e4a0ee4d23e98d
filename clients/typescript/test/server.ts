/**
 * The real server, for tests: one installation that is killed and started again on the same data and port.
 *
 * Invariants
 * - It is ready when `start` returns, gone when `kill` returns, and leaves nothing behind after `remove`.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { access, constants, mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import WebSocket from 'ws';

import { AddMember, Atelier, CreateToken, CreateWorkspace, type AtelierOptions, type Role } from '../src/index.js';

const here = dirname(fileURLToPath(import.meta.url));
const BINARY = resolve(process.env['ATELIER_BINARY'] ?? join(here, '../../../target/debug/atelier'));
const SECRET = 'proof-owner-0123456789abcdef';
const PATIENCE_MS = 30_000;
const POLL_MS = 10;

/** A member of a workspace with a client of their own. */
export interface Person {
  readonly atelier: Atelier;
  readonly workspaceId: string;
  readonly userId: string;
  readonly secret: string;
}

export class Installation {
  private process: ChildProcess | undefined;
  private address = '127.0.0.1:0';

  private constructor(private readonly folder: string) {}

  static async open(): Promise<Installation> {
    const installation = new Installation(await mkdtemp(join(tmpdir(), 'atelier-client-')));
    await installation.start();
    return installation;
  }

  /** The program that is tested. */
  readonly binary = BINARY;

  get url(): string {
    return `http://${this.address}`;
  }

  async start(): Promise<void> {
    await access(BINARY, constants.X_OK);
    const said = join(this.folder, 'said');
    const [output, log] = [await open(said, 'w'), await open(join(this.folder, 'log'), 'a')];
    this.process = spawn(BINARY, ['serve'], {
      cwd: this.folder,
      stdio: ['ignore', output.fd, log.fd],
      env: {
        ...process.env,
        ATELIER_LISTEN: this.address,
        ATELIER_DATA_DIR: join(this.folder, 'data'),
        ATELIER_BOOTSTRAP_TOKEN: SECRET,
        ATELIER_RATE_LIMIT: 'off',
        ATELIER_EMBEDDINGS_PROVIDER: 'none',
      },
    });
    await Promise.all([output.close(), log.close()]);
    await until('the server says where it listens', async () => {
      const address = /http:\/\/([\d.:]+)/.exec(await readFile(said, 'utf8'))?.[1];
      if (address) this.address = address;
      return address !== undefined;
    });
    await until('the server is ready', () => fetch(`${this.url}/readyz`).then(({ ok }) => ok, () => false));
  }

  /** Ends it as a power failure would. */
  async kill(): Promise<void> {
    const ending = this.process;
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
    const ended = once(ending, 'exit');
    ending.kill('SIGKILL');
    await ended;
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  async remove(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }

  client(secret: string, options: Partial<AtelierOptions> = {}): Atelier {
    return new Atelier({ url: this.url, token: secret, WebSocket, ...options });
  }

  /** The first owner, in a workspace of a test's own. */
  async owner(): Promise<Person> {
    const atelier = this.client(SECRET);
    const { createWorkspace } = await atelier.run(CreateWorkspace, { input: { name: 'Proof' } });
    return { atelier, workspaceId: createWorkspace.workspace.id, userId: '', secret: SECRET };
  }

  /** Somebody else, added by an owner. */
  async invite({ atelier, workspaceId }: Person, role: Role): Promise<Person> {
    const email = `${crypto.randomUUID()}@example.com`;
    const { addMember } = await atelier.run(AddMember, { input: { workspaceId, email, name: role, role } });
    const userId = addMember.member.user.id;
    const input = { label: 'proof', kind: 'PERSONAL', userId, workspaceId } as const;
    const { secret } = (await atelier.run(CreateToken, { input })).createToken;
    return { atelier: this.client(secret), workspaceId, userId, secret };
  }
}

/** Waits until it is so. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
}

/** The next items of a feed, which stays open. */
export async function take<T>(feed: AsyncGenerator<T, void, undefined>, count: number): Promise<T[]> {
  const items: T[] = [];
  while (items.length < count) {
    const { value, done } = await feed.next();
    if (done) throw new Error(`the feed ended after ${items.length} of ${count} items`);
    items.push(value);
  }
  return items;
}
