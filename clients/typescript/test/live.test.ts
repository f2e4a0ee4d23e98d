/** Live documents over kills of the server: what counts as saved is stored, and nothing that was typed is lost or doubled. */
import WebSocket from 'ws';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as Y from 'yjs';

import { AddMember, CreateWork, Work, type Live } from '../src/index.js';
import { Installation, take, until, type Person } from './server.js';

let installation: Installation;
let owner: Person;

beforeAll(async () => {
  installation = await Installation.open();
  owner = await installation.owner();
});
afterAll(() => installation.remove());

async function newText(): Promise<string> {
  const { createWork } = await owner.atelier.run(CreateWork, { input: { workspaceId: owner.workspaceId, kind: 'TEXT', title: 'Text' } });
  return createWork.work.id;
}

async function stored(workId: string): Promise<string> {
  const { node } = await owner.atelier.run(Work, { id: workId });
  if (node?.__typename !== 'TextDocument') throw new Error('it is a text');
  return node.text;
}

function append({ document }: Live, words: string): void {
  const text = document.getText('text');
  text.insert(text.length, words);
}

const textOf = ({ document }: Live): string => document.getText('text').toString();

test('two programs see the edits of each other', async () => {
  const workId = await newText();
  const other = await installation.invite(owner, 'EDITOR');
  const [ada, ben] = [await owner.atelier.open(workId), await other.atelier.open(workId)];
  append(ada, 'from Ada. ');
  await until('Ben has it', () => textOf(ben) === 'from Ada. ');
  append(ben, 'from Ben. ');
  await until('Ada has it', () => textOf(ada) === 'from Ada. from Ben. ');
  ada.close();
  ben.close();
});

test('what counts as saved has survived a kill right after', async () => {
  const workId = await newText();
  const expected: string[] = [];
  for (let round = 0; round < 4; round += 1) {
    const live = await owner.atelier.open(workId);
    append(live, `round ${round}. `);
    expect(live.hasUnsaved).toBe(true);
    await live.saved();
    expect(live.hasUnsaved).toBe(false);
    await installation.kill();
    live.close();
    expected.push(`round ${round}. `);
    await installation.start();
    expect(await stored(workId)).toBe(expected.join(''));
  }
});

test('typing over kills loses nothing and doubles nothing', async () => {
  const workId = await newText();
  const writer = await owner.atelier.open(workId);
  const words: string[] = [];
  for (let number = 0; number < 120; number += 1) {
    words.push(`${number} `);
    append(writer, `${number} `);
    if (number % 40 === 20) await installation.kill();
    if (number % 40 === 30) await installation.start();
    // Lets frames leave between edits, so that kills meet all states of them.
    await new Promise((done) => setTimeout(done, 1));
  }
  await writer.saved();
  expect(await stored(workId)).toBe(words.join(''));
  const reader = await installation.client(owner.secret).open(workId);
  expect(textOf(reader)).toBe(words.join(''));
  writer.close();
  reader.close();
});

/** A class of sockets that holds back what comes, until it is let go. */
function holding(): { Holding: typeof WebSocket; hold(isHeld: boolean): void } {
  let isHeld = false;
  let waiting: (() => void)[] = [];
  class Holding extends WebSocket {
    override emit(event: string, ...given: unknown[]): boolean {
      if (event !== 'message' || !isHeld) return super.emit(event, ...given);
      waiting.push(() => super.emit(event, ...given));
      return true;
    }
  }
  const hold = (value: boolean): void => {
    isHeld = value;
    const now = waiting;
    waiting = [];
    for (const go of now) go();
  };
  return { Holding: Holding as typeof WebSocket, hold };
}

test('what was typed without a connection counts as saved only when all of it is stored', async () => {
  const workId = await newText();
  const { Holding, hold } = holding();
  const live = await installation.client(owner.secret, { WebSocket: Holding }).open(workId);
  await live.saved();
  await installation.kill();
  await until('the loss is seen', () => live.state !== 'connected');
  for (let number = 0; number < 30; number += 1) append(live, `${number} `);
  let isSaved = false;
  const saved = live.saved().then(() => (isSaved = true));
  hold(true);
  await installation.start();
  // The server takes nothing while it is not heard, and what is not answered is not saved.
  await until('it is at the server', async () => (await fetch(`${installation.url}/readyz`)).ok);
  expect(isSaved).toBe(false);
  hold(false);
  await saved;
  const reader = await owner.atelier.open(workId);
  expect(textOf(reader)).toBe(textOf(live));
  expect(await stored(workId)).toBe(Array.from({ length: 30 }, (_, number) => `${number} `).join(''));
  live.close();
  reader.close();
});

test('a document that was kept goes on where it was, with what nobody has seen yet', async () => {
  const workId = await newText();
  const before = await owner.atelier.open(workId);
  append(before, 'before. ');
  await before.saved();
  before.close();
  append(before, 'unsent. ');
  const kept = new Y.Doc();
  Y.applyUpdate(kept, Y.encodeStateAsUpdate(before.document));
  const after = await owner.atelier.open(workId, { document: kept });
  await after.saved();
  expect(await stored(workId)).toBe('before. unsent. ');
  after.close();
});

test('every change that others store is both in the document and in the feed, once', async () => {
  const workId = await newText();
  const feed = owner.atelier.workChanges(workId, { afterVersion: 0 });
  const live = await owner.atelier.open(workId);
  const followed = new Y.Doc();
  for (let number = 0; number < 6; number += 1) {
    append(live, `${number} `);
    await live.saved();
    if (number === 3) await installation.restart();
    const [change] = await take(feed, 1);
    expect(change?.version).toBe(number + 1);
    Y.applyUpdate(followed, Buffer.from(change?.update ?? '', 'base64'));
  }
  expect(followed.getText('text').toString()).toBe(textOf(live));
  live.close();
  await feed.return();
});

test('a viewer reads, is told that nothing is taken, and writes when the role allows it', async () => {
  const workId = await newText();
  const viewer = await installation.invite(owner, 'VIEWER');
  const [reader, writer] = [await viewer.atelier.open(workId), await owner.atelier.open(workId)];
  expect(reader.isReadOnly).toBe(true);
  append(writer, 'readable. ');
  await until('the viewer has it', () => textOf(reader) === 'readable. ');
  append(reader, 'not yet. ');
  await expect(reader.saved()).rejects.toMatchObject({ code: 'FORBIDDEN' });
  expect(await stored(workId)).toBe('readable. ');
  const email = `${crypto.randomUUID()}@example.com`;
  await owner.atelier.run(AddMember, { input: { workspaceId: owner.workspaceId, email: await emailOf(viewer, email), role: 'EDITOR' } });
  await until('the viewer may write', () => !reader.isReadOnly);
  await until('what was refused is stored', () => !reader.hasUnsaved);
  expect(await stored(workId)).toContain('not yet. ');
  reader.close();
  writer.close();
});

async function emailOf({ atelier }: Person, otherwise: string): Promise<string> {
  const { viewer } = await atelier.run('{ viewer { user { email } } }').then((data) => data as { viewer: { user: { email: string | null } } });
  return viewer.user.email ?? otherwise;
}

test('what can not be opened says why, in a code', async () => {
  const workId = await newText();
  const nothing = `work_${'0'.repeat(32)}`;
  await expect(owner.atelier.open(nothing)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(installation.client('nonsense').open(workId)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  const live = owner.atelier.connect(workId);
  live.close();
  append(live, 'late');
  await expect(live.loaded()).rejects.toMatchObject({ code: 'CONFLICT' });
  await expect(live.saved()).rejects.toMatchObject({ code: 'CONFLICT' });
});

test('presence shows who is where', async () => {
  const workId = await newText();
  const feed = owner.atelier.presence(workId);
  const other = await installation.invite(owner, 'EDITOR');
  const live = await other.atelier.open(workId);
  live.awareness.setLocalState({ user: { name: 'somebody' }, nodeId: 'a' });
  for (let isThere = false; !isThere; ) {
    const [present] = await take(feed, 1);
    isThere = present?.some(({ nodeId, actor }) => nodeId === 'a' && actor.user?.id === other.userId) ?? false;
  }
  live.close();
  for (let isGone = false; !isGone; ) isGone = (await take(feed, 1))[0]?.length === 0;
  await feed.return();
});
