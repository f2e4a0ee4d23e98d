/** Files: whole or not at all, and once. */
import { afterAll, beforeAll, expect, test } from 'vitest';

import { Installation, type Person } from './server.js';

let installation: Installation;
let owner: Person;

beforeAll(async () => {
  installation = await Installation.open();
  owner = await installation.owner();
});
afterAll(() => installation.remove());

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

test('a file is sent, described and read again', async () => {
  const { atelier, workspaceId } = owner;
  const asset = await atelier.upload({ workspaceId, title: 'notes.txt', mediaType: 'text/plain', bytes: bytesOf('a fox') });
  expect(asset).toMatchObject({ title: 'notes.txt', mediaType: 'text/plain', byteSize: 5, version: 1 });
  expect(await (await atelier.download(asset.url)).text()).toBe('a fox');
  await installation.restart();
  expect(await (await atelier.download(asset.url)).text()).toBe('a fox');
});

test('further bytes are the next version of the same asset', async () => {
  const { atelier, workspaceId } = owner;
  const file = (text: string) => ({ workspaceId, title: 'notes.txt', bytes: new Blob([text], { type: 'text/plain' }) });
  const first = await atelier.upload(file('one'));
  const second = await atelier.upload({ ...file('second'), workId: first.id });
  expect(second).toMatchObject({ id: first.id, version: 2, byteSize: 6 });
});

test('an upload whose answer was lost is there once', async () => {
  const { workspaceId, secret } = owner;
  let puts = 0;
  const losing: typeof fetch = async (address, init) => {
    const response = await fetch(address, init);
    if (init?.method !== 'PUT' || (puts += 1) > 1) return response;
    throw new TypeError('the connection broke');
  };
  const atelier = installation.client(secret, { fetch: losing });
  const asset = await atelier.upload({ workspaceId, title: 'once', mediaType: 'text/plain', bytes: bytesOf('once') });
  expect([asset.version, asset.byteSize, puts]).toEqual([1, 4, 2]);
});

test('bytes that are not what they are said to be are refused with a code', async () => {
  const { atelier, workspaceId } = owner;
  const lie = atelier.upload({ workspaceId, title: 'x.png', mediaType: 'image/png', bytes: bytesOf('no picture') });
  await expect(lie).rejects.toMatchObject({ name: 'AtelierError', code: 'UNSUPPORTED_MEDIA_TYPE' });
});

test('an asset that is not there can not be read', async () => {
  const missing = owner.atelier.download(`/files/work_${'0'.repeat(32)}/${'0'.repeat(64)}`);
  await expect(missing).rejects.toMatchObject({ code: 'NOT_FOUND' });
});
