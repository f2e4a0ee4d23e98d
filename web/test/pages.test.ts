/** Lists in pages: read by cursor in both directions, as far as a person went; and lists that only grow. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { ApiError } from '../src/api/errors';
import { Growing } from '../src/api/growing';
import { readPages, type Connection } from '../src/api/pages';

/** A list of numbers as the API would give it. */
function served(numbers: number[], size: number) {
  return {
    forward: async (after: string | null): Promise<Connection<number>> => {
      const start = after === null ? 0 : numbers.indexOf(Number(after)) + 1;
      const nodes = numbers.slice(start, start + size);
      const endCursor = nodes.length > 0 ? String(nodes.at(-1)) : null;
      return { nodes, totalCount: numbers.length, pageInfo: { hasNextPage: start + size < numbers.length, endCursor } };
    },
    backward: async (before: string | null): Promise<Connection<number>> => {
      const end = before === null ? numbers.length : numbers.indexOf(Number(before));
      const nodes = numbers.slice(Math.max(0, end - size), end);
      return { nodes, pageInfo: { hasPreviousPage: end - size > 0, startCursor: nodes.length > 0 ? String(nodes[0]) : null } };
    },
  };
}

const numbers = Array.from({ length: 250 }, (_, at) => at);

test('more than a hundred rows are read page after page, each once and in order', async () => {
  const list = await readPages(served(numbers, 100).forward, Number.POSITIVE_INFINITY);
  expect(list).toEqual({ nodes: numbers, count: 3, hasMore: false, total: 250 });
});

test('as many pages are read as a person asked for, and that there are more is known', async () => {
  const list = await readPages(served(numbers, 100).forward, 2);
  expect(list?.nodes).toEqual(numbers.slice(0, 200));
  expect(list?.hasMore).toBe(true);
});

test('a thread is read from its end, and earlier pages come before', async () => {
  const list = await readPages(served(numbers, 30).backward, 3, 'before');
  expect(list?.nodes).toEqual(numbers.slice(160));
  expect(list?.hasMore).toBe(true);
});

test('where there is no such list there are no rows', async () => {
  expect(await readPages(async () => null, 5)).toBeNull();
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

test('what grew is read on from where one was, and nothing is asked for twice', async () => {
  const all = numbers.slice(0, 120);
  const asked: (string | null)[] = [];
  const growing = new Growing(async (cursor) => {
    asked.push(cursor);
    return served(all, 50).forward(cursor);
  });
  growing.read();
  await pass(0);
  expect(growing.current()).toEqual({ nodes: all, isWhole: true, error: null });
  all.push(120, 121);
  for (let event = 0; event < 20; event += 1) growing.read();
  await pass(0);
  expect(growing.current().nodes).toHaveLength(122);
  expect(asked.filter((cursor) => cursor === null)).toHaveLength(1);
  expect(asked.length).toBeLessThanOrEqual(5);
});

test('a ledger goes on by itself when the server is back, with what was read', async () => {
  let isAway = false;
  const growing = new Growing(async (cursor) => {
    if (isAway) throw new ApiError('UNAVAILABLE', 'no answer');
    return served(numbers.slice(0, 10), 50).forward(cursor);
  });
  growing.read();
  await pass(0);
  isAway = true;
  growing.read();
  await pass(10);
  expect(growing.current().nodes).toHaveLength(10);
  expect(growing.current().error?.code).toBe('UNAVAILABLE');
  isAway = false;
  await pass(5_000);
  expect(growing.current().error).toBeNull();
});
