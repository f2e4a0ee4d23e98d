/** Order keys: always room between two, and the same order for everybody. */
import { expect, test } from 'vitest';

import { between, byOrder, evenly } from '../src/work/order';

test('there is room between any two keys that differ, however often it is asked for', () => {
  const seed = Date.now() % 100_000;
  let state = seed;
  const random = (below: number): number => {
    state = (state * 48_271 + 1) % 2_147_483_647;
    return state % below;
  };
  const keys: string[] = [];
  for (let round = 0; round < 500; round += 1) {
    const at = random(keys.length + 1);
    const key = between(keys[at - 1] ?? '', keys[at] ?? null);
    expect(key, `seed ${seed}, round ${round}`).not.toBeNull();
    keys.splice(at, 0, key!);
  }
  expect(keys, `seed ${seed}`).toEqual([...keys].sort((one, other) => (one < other ? -1 : 1)));
  expect(new Set(keys).size).toBe(500);
});

test('keys at the end of a list stay short', () => {
  let last = '';
  for (let count = 0; count < 300; count += 1) last = between(last, null)!;
  expect(last.length).toBeLessThan(12);
});

test('where there is no room the answer is null', () => {
  expect(between('a', 'a')).toBeNull();
  expect(between('b', 'a')).toBeNull();
  expect(between('a', 'a0')).toBeNull();
  expect(between('a!', 'a#')).toBeNull();
});

test('keys for a whole list ascend and leave room', () => {
  for (const count of [1, 2, 61, 62, 63, 500]) {
    const keys = evenly(count);
    expect(keys).toHaveLength(count);
    let low = '';
    for (const key of keys) {
      expect(between(low, key), `${count}: ${low} ${key}`).not.toBeNull();
      low = key;
    }
  }
});

test('equal keys sort by id, and nodes without a key sort last', () => {
  const nodes = [
    { id: 'c', order: null },
    { id: 'b', order: 'V' },
    { id: 'a', order: 'V' },
    { id: 'd', order: 'A' },
  ];
  expect(nodes.sort(byOrder).map((node) => node.id)).toEqual(['d', 'a', 'b', 'c']);
});
