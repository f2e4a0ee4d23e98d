/** Messages on their way: shown at once, sent once, never lost. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { ApiError } from '../src/api/errors';
import { Outbox } from '../src/talk/outbox';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const draft = { text: 'a fox', attachmentIds: [] };
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

test('a message is shown before the server has it, and goes when it stands in the thread', async () => {
  const outbox = new Outbox(async () => 'message_1');
  outbox.post(draft);
  expect(outbox.current()).toMatchObject([{ text: 'a fox', messageId: null }]);
  await pass(0);
  outbox.settle(new Set(['message_0']));
  expect(outbox.current()).toMatchObject([{ messageId: 'message_1' }]);
  outbox.settle(new Set(['message_1']));
  expect(outbox.current()).toEqual([]);
});

test('a server that was away gets the message later, under the same key', async () => {
  const keys: string[] = [];
  const outbox = new Outbox(async (_, key) => {
    keys.push(key);
    if (keys.length < 4) throw new ApiError('UNAVAILABLE', 'no answer');
    return 'message_1';
  });
  outbox.post(draft);
  await pass(0);
  expect(outbox.current()[0]?.error?.code).toBe('UNAVAILABLE');
  await pass(60_000);
  expect(outbox.current()).toMatchObject([{ messageId: 'message_1', error: null }]);
  expect(keys).toHaveLength(4);
  expect(new Set(keys).size).toBe(1);
});

test('a refused message waits for the person, who sends it again or drops it', async () => {
  const send = vi.fn(async (): Promise<string> => {
    throw new ApiError('FORBIDDEN', 'viewers do not talk');
  });
  const outbox = new Outbox(send);
  outbox.post(draft);
  await pass(60_000);
  expect(send).toHaveBeenCalledTimes(1);
  const key = outbox.current()[0]?.key ?? '';
  outbox.retry(key);
  await pass(0);
  expect(send).toHaveBeenCalledTimes(2);
  outbox.drop(key);
  expect(outbox.current()).toEqual([]);
});

test('a message that was dropped while it waited is not sent after all', async () => {
  const send = vi.fn(async (): Promise<string> => {
    throw new ApiError('UNAVAILABLE', 'no answer');
  });
  const outbox = new Outbox(send);
  outbox.post(draft);
  await pass(0);
  outbox.drop(outbox.current()[0]?.key ?? '');
  await pass(60_000);
  expect(send).toHaveBeenCalledTimes(1);
});
