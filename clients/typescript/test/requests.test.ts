/** Queries and mutations against the real server: answers are typed, refusals have codes, and nothing happens twice. */
import { afterAll, beforeAll, expect, test } from 'vitest';

import { Atelier, AtelierError, CreateWork, EditNodes, PostMessage, ReplaceText, Viewer, Work, Works, MainThread } from '../src/index.js';
import { Installation, type Person } from './server.js';

let installation: Installation;
let owner: Person;

beforeAll(async () => {
  installation = await Installation.open();
  owner = await installation.owner();
});
afterAll(() => installation.remove());

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AtelierError);
  return (error as AtelierError).code;
}

test('the content of a work is read with its kind', async () => {
  const { atelier, workspaceId } = owner;
  const input = { workspaceId, kind: 'STORYBOARD', title: 'Fox', nodes: [{ id: 'a', type: 'shot', fields: { title: 'Dusk' } }] } as const;
  const { createWork } = await atelier.run(CreateWork, { input: { ...input, nodes: [...input.nodes] } });
  const { node } = await atelier.run(Work, { id: createWork.work.id });
  if (node?.__typename !== 'Storyboard') throw new Error('it is a storyboard');
  expect(node.nodes.map(({ id, fields }) => [id, fields.title])).toEqual([['a', 'Dusk']]);
});

test('an edit over the change of somebody else is a conflict that carries the node as it is', async () => {
  const { atelier, workspaceId } = owner;
  const other = await installation.invite(owner, 'EDITOR');
  const nodes = [{ id: 'a', type: 'shot', fields: { title: 'Dusk' } }];
  const { work } = (await atelier.run(CreateWork, { input: { workspaceId, kind: 'STORYBOARD', title: 'Fox', nodes } })).createWork;
  const edit = (title: string) => ({ input: { workId: work.id, baseVersion: 1, operations: [{ set: { nodeId: 'a', fields: { title } } }] } });
  expect((await other.atelier.run(EditNodes, edit('Night'))).editNodes.__typename).toBe('EditApplied');
  const { editNodes } = await atelier.run(EditNodes, edit('Dawn'));
  if (editNodes.__typename !== 'NodeConflict') throw new Error(editNodes.__typename);
  expect(editNodes.conflicts[0]?.current?.fields.title).toBe('Night');
  expect(editNodes.currentVersion).toBe(2);
});

test('lists are read to their end, page by page', async () => {
  const own = await installation.owner();
  const { atelier, workspaceId } = own;
  for (let number = 0; number < 7; number += 1) {
    await atelier.run(CreateWork, { input: { workspaceId, kind: 'TEXT', title: `text ${number}` } });
  }
  const titles: string[] = [];
  for await (const { title } of atelier.pages(Works, { workspaceId, first: 3 }, ({ workspace }) => workspace?.works)) titles.push(title);
  expect(titles.sort()).toEqual([0, 1, 2, 3, 4, 5, 6].map((number) => `text ${number}`));
});

test('refusals have the codes of the server', async () => {
  const { atelier, workspaceId } = owner;
  const viewer = await installation.invite(owner, 'VIEWER');
  const text = { workspaceId, kind: 'TEXT', title: 'x' } as const;
  expect(await codeOf(viewer.atelier.run(CreateWork, { input: text }))).toBe('FORBIDDEN');
  expect(await codeOf(installation.client('nonsense').run(Viewer))).toBe('UNAUTHENTICATED');
  expect(await codeOf(atelier.run('{ nothing }'))).toBe('GRAPHQL_VALIDATION_FAILED');
  expect(await codeOf(atelier.run(Works, { workspaceId, first: 1, after: 'nonsense' }))).toBe('CURSOR_INVALID');
  const stranger = await installation.owner();
  const { work } = (await stranger.atelier.run(CreateWork, { input: { ...text, workspaceId: stranger.workspaceId } })).createWork;
  expect(await codeOf(viewer.atelier.run(ReplaceText, { input: { workId: work.id, baseVersion: 0, text: 'x' } }))).toBe('NOT_FOUND');
});

test('the same key with another input is refused as reused', async () => {
  const { atelier, workspaceId } = owner;
  const post = (text: string) => atelier.run(PostMessage, { input: { workspaceId, text, idempotencyKey: 'one' } });
  const first = await post('hello');
  expect((await post('hello')).postMessage.message.id).toBe(first.postMessage.message.id);
  expect(await codeOf(post('other'))).toBe('IDEMPOTENCY_KEY_REUSED');
});

/** Loses the answers of the first requests, which the server has carried out. */
function losing(answers: number): typeof fetch {
  return async (...request) => {
    const response = await fetch(...request);
    if (answers-- <= 0) return response;
    await response.arrayBuffer();
    throw new TypeError('the connection broke');
  };
}

test('a mutation whose answer was lost is sent again and done once', async () => {
  const own = await installation.owner();
  const atelier = installation.client(own.secret, { fetch: losing(2) });
  const { workspaceId } = own;
  const { createWork } = await atelier.run(CreateWork, { input: { workspaceId, kind: 'TEXT', title: 'once' } });
  const { workspace } = await own.atelier.run(Works, { workspaceId });
  expect(workspace?.works.nodes.map(({ id }) => id)).toEqual([createWork.work.id]);
});

test('a mutation that takes no key is not sent again', async () => {
  const own = await installation.owner();
  const atelier = installation.client(own.secret, { fetch: losing(1) });
  const rename = 'mutation ($input: CreateWorkspaceInput!) { createWorkspace(input: $input) { workspace { id } } }';
  expect(await codeOf(atelier.run(rename, { input: { name: 'Once' } }))).toBe('UNAVAILABLE');
});

test('a query waits for a server that is started again', async () => {
  await installation.kill();
  const asked = owner.atelier.run(MainThread, { workspaceId: owner.workspaceId, last: 5 });
  await installation.start();
  expect((await asked).workspace?.mainThread.nodes.length).toBeGreaterThan(0);
});

test('a server that is not there is unavailable, and a request that is given up ends at once', async () => {
  const nowhere = new Atelier({ url: 'http://127.0.0.1:9', token: 'x', retries: 0 });
  expect(await codeOf(nowhere.run(Viewer))).toBe('UNAVAILABLE');
  const patient = new Atelier({ url: 'http://127.0.0.1:9', token: 'x', retries: 100 });
  const giving = new AbortController();
  const asked = patient.run(Viewer, {}, { signal: giving.signal });
  giving.abort(new Error('enough'));
  await expect(asked).rejects.toThrow('enough');
});
