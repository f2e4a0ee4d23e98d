/** A query that is kept up to date: how often it asks, and what it shows while the server is away. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { ApiError } from '../src/api/errors';
import { Reading } from '../src/api/reading';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

test('a hundred events during a request make one more request', async () => {
  const ask = vi.fn(async () => ask.mock.calls.length);
  const reading = new Reading(ask);
  reading.refresh();
  for (let event = 0; event < 100; event += 1) reading.refresh();
  await pass(1_000);
  expect(ask).toHaveBeenCalledTimes(2);
  expect(reading.current().data).toBe(2);
});

test('an event after a quiet time is answered at once', async () => {
  const ask = vi.fn(async () => 'new');
  const reading = new Reading(ask);
  reading.refresh();
  await pass(10_000);
  reading.refresh();
  expect(ask).toHaveBeenCalledTimes(2);
});

test('while the server is away the last answer stays, and it is asked until it answers', async () => {
  let isAway = false;
  const reading = new Reading(async () => {
    if (isAway) throw new ApiError('UNAVAILABLE', 'no answer');
    return 'shown';
  });
  reading.refresh();
  await pass(1_000);
  isAway = true;
  reading.refresh();
  await pass(1_000);
  expect(reading.current().data).toBe('shown');
  expect(reading.current().error?.code).toBe('UNAVAILABLE');
  isAway = false;
  await pass(10_000);
  expect(reading.current()).toEqual({ data: 'shown', error: null });
});

test('a refusal is told and not asked again by itself', async () => {
  const ask = vi.fn(async () => {
    throw new ApiError('FORBIDDEN', 'not yours');
  });
  const reading = new Reading(ask);
  reading.refresh();
  await pass(60_000);
  expect(ask).toHaveBeenCalledTimes(1);
  expect(reading.current().error?.code).toBe('FORBIDDEN');
});

test('what was let go tells nothing and asks no more', async () => {
  const ask = vi.fn(async () => 'late');
  const reading = new Reading(ask);
  const tell = vi.fn();
  reading.subscribe(tell);
  reading.refresh();
  reading.close();
  await pass(10_000);
  reading.refresh();
  expect(tell).not.toHaveBeenCalled();
  expect(ask).toHaveBeenCalledTimes(1);
});
