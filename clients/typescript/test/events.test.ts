/** Events and changes over kills and restarts of the server: nothing is lost, nothing comes twice. */
import WebSocket from 'ws';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { CreateTask, CreateWork, Events, ReplaceText, RevokeToken, Viewer, type WorkspaceEvent } from '../src/index.js';
import { Installation, take, until, type Person } from './server.js';

let installation: Installation;
let owner: Person;

beforeEach(async () => {
  installation = await Installation.open();
  owner = await installation.owner();
});
afterEach(() => installation.remove());

async function make(title: string): Promise<string> {
  const { createWork } = await owner.atelier.run(CreateWork, { input: { workspaceId: owner.workspaceId, kind: 'TEXT', title } });
  return createWork.work.id;
}

async function allEvents(): Promise<WorkspaceEvent[]> {
  const { atelier, workspaceId } = owner;
  const events: WorkspaceEvent[] = [];
  for await (const event of atelier.pages(Events, { workspaceId, first: 100 }, ({ workspace }) => workspace?.events)) events.push(event);
  return events;
}

const cursors = (events: WorkspaceEvent[]): string[] => events.map(({ cursor }) => cursor);

test('events are followed over kills and restarts, none lost and none twice', async () => {
  const { atelier, workspaceId } = owner;
  const start = (await allEvents()).at(-1)?.cursor;
  if (!start) throw new Error('making a workspace is an event');
  let interruptions = 0;
  const heard: WorkspaceEvent[] = [];
  const giving = new AbortController();
  const options = { after: start, signal: giving.signal, onInterruption: () => (interruptions += 1) };
  const reading = (async () => {
    for await (const event of atelier.workspaceEvents(workspaceId, options)) heard.push(event);
  })();
  const made: string[] = [];
  for (let round = 0; round < 4; round += 1) {
    for (let number = 0; number < 5; number += 1) {
      made.push(await make(`work ${round}.${number}`));
      if (number !== 3) continue;
      // The server dies while events are on their way, with some of each round heard and some perhaps not.
      await until('it listens', () => heard.length > made.length - 4);
      await installation.restart();
    }
  }
  await until('all works are heard of', () => heard.length >= made.length);
  giving.abort();
  await reading;
  expect(heard.map(({ subject }) => subject && 'id' in subject && subject.id)).toEqual(made);
  expect(cursors(heard)).toEqual(cursors(await allEvents()).slice(-made.length));
  expect(interruptions).toBeGreaterThanOrEqual(4);
});

test('a reader that comes back another day goes on after the last event that it has dealt with', async () => {
  const { atelier, workspaceId } = owner;
  const first = await make('first');
  const feed = atelier.workspaceEvents(workspaceId, { after: (await allEvents())[0]?.cursor ?? '' });
  const seen = await take(feed, 1);
  await feed.return();
  await installation.restart();
  const second = await make('second');
  const after = seen.at(-1)?.cursor ?? '';
  const [event] = await take(installation.client(owner.secret).workspaceEvents(workspaceId, { after }), 1);
  expect([seen[0]?.subject, event?.subject]).toMatchObject([{ id: first }, { id: second }]);
});

test('a feed without a cursor misses nothing from the moment on that it has asked where the log stands', async () => {
  const { workspaceId, secret } = owner;
  await make('before');
  let hasAsked = false;
  const noting: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    hasAsked = true;
    return response;
  };
  const next = installation.client(secret, { fetch: noting }).workspaceEvents(workspaceId).next();
  await until('it has asked', () => hasAsked);
  // It is still connecting when the event is made and the server dies.
  const made = await make('during');
  await installation.restart();
  const { value } = await next;
  expect([value?.kind, value?.subject]).toMatchObject(['WORK_CREATED', { id: made }]);
});

test('changes of a work come in order and without a gap over restarts', async () => {
  const { atelier } = owner;
  const workId = await make('text');
  const write = (version: number) => atelier.run(ReplaceText, { input: { workId, baseVersion: version, text: `${version}` } });
  const feed = atelier.workChanges(workId, { afterVersion: 0 });
  const versions: number[] = [];
  for (let version = 0; version < 12; version += 1) {
    await write(version);
    if (version % 4 === 2) await installation.restart();
    if (version % 3 === 2) versions.push(...(await take(feed, 3)).map((change) => change.version));
  }
  expect(versions).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
});

test('what a task does is followed from its making on', async () => {
  const { atelier, workspaceId } = owner;
  const { task } = (await atelier.run(CreateTask, { input: { workspaceId, goal: 'Write a short text about a lighthouse' } })).createTask;
  const all = await allEvents();
  const before = all[all.findIndex(({ kind }) => kind === 'TASK_CREATED') - 1]?.cursor ?? '';
  const feed = atelier.taskEvents(task.id, { after: before });
  const [made] = await take(feed, 1);
  expect(made).toMatchObject({ kind: 'TASK_CREATED', subject: { id: task.id } });
  await installation.restart();
  const kinds: string[] = [];
  while (!kinds.includes('STEP_DECIDED')) kinds.push(...(await take(feed, 1)).map(({ kind }) => kind));
});

/** A class of sockets that counts what goes and comes. */
function counting(): { Counted: typeof WebSocket; count: { subscribes: number; items: number } } {
  const count = { subscribes: 0, items: 0 };
  class Counted extends WebSocket {
    constructor(...given: ConstructorParameters<typeof WebSocket>) {
      super(...given);
      this.on('message', (text) => (count.items += Number(String(text).includes('"type":"next"'))));
    }

    override send(text: string): void {
      count.subscribes += Number(text.includes('"type":"subscribe"'));
      super.send(text);
    }
  }
  return { Counted: Counted as typeof WebSocket, count };
}

test('a slow reader gets everything, although only so much waits for it', async () => {
  const { atelier, secret } = owner;
  const workId = await make('text');
  const total = 50;
  for (let version = 0; version < total; version += 1) {
    await atelier.run(ReplaceText, { input: { workId, baseVersion: version, text: `${version}` } });
  }
  const { Counted, count } = counting();
  const feed = installation.client(secret, { WebSocket: Counted }).workChanges(workId, { afterVersion: 0, buffer: 20 });
  const changes = await take(feed, 1);
  // One was read, so that twenty wait with the next twenty that come.
  await until('as much has come as may wait', () => count.items > 20);
  changes.push(...(await take(feed, total - 1)));
  expect(changes.map(({ version }) => version)).toEqual(Array.from({ length: total }, (_, index) => index + 1));
  expect(count.subscribes).toBeGreaterThan(1);
});

test('a cursor that was never given out ends the feed with its code', async () => {
  const feed = owner.atelier.workspaceEvents(owner.workspaceId, { after: 'nonsense' });
  await expect(feed.next()).rejects.toMatchObject({ name: 'AtelierError', code: 'CURSOR_INVALID' });
});

test('a token that is revoked ends the feed, and a bad one never begins it', async () => {
  const other = await installation.invite(owner, 'EDITOR');
  const feed = other.atelier.workspaceEvents(other.workspaceId);
  let hasHeard = false;
  const hearing = feed.next().then(() => (hasHeard = true));
  const { viewer } = await other.atelier.run(Viewer);
  // What it hears shows that it is at the socket.
  await until('it hears', async () => {
    await make('heard');
    return hasHeard;
  });
  await hearing;
  const ending = (async () => {
    for (;;) await take(feed, 1);
  })();
  await other.atelier.run(RevokeToken, { input: { id: viewer.tokens[0]?.id ?? '' } });
  await expect(ending).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  const stranger = installation.client('nonsense').workspaceEvents(owner.workspaceId, { after: 'x' });
  await expect(stranger.next()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
});

test('a feed ends without an error where its signal is given, also while the server is away', async () => {
  await installation.kill();
  const giving = new AbortController();
  const feed = owner.atelier.presence('work_x', { signal: giving.signal, onInterruption: () => giving.abort() });
  expect(await feed.next()).toEqual({ value: undefined, done: true });
});

test('where there is no class of sockets the reader is told what to pass', async () => {
  vi.stubGlobal('WebSocket', undefined);
  const bare = installation.client(owner.secret, { WebSocket: undefined });
  await expect(bare.workspaceEvents(owner.workspaceId, { after: 'x' }).next()).rejects.toThrow("pass `WebSocket` from 'ws'");
  vi.unstubAllGlobals();
});
