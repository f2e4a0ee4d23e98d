/** Ports of a flow: what fits together, where an edge without names runs, and what runs for a node. */
import { expect, test } from 'vitest';

import type { FlowEdge } from '../src/work/flow';
import { endsOf, fits, keyOfNamed, namedAt, namedOfKey, namedPorts, NODE_TYPES, portsOf } from '../src/work/ports';
import { runsOf } from '../src/work/runs';

test('what fits goes in, and what does not is refused', () => {
  expect(fits('text', 'text')).toBe(true);
  expect(fits('image', 'reference')).toBe(true);
  expect(fits('any', 'video')).toBe(true);
  expect(fits('audio', 'image')).toBe(false);
  expect(fits('text', 'reference')).toBe(false);
});

test('an edge that names no port runs to the first that takes what comes', () => {
  const bare = { sourcePort: null, targetPort: null };
  expect(endsOf(bare, portsOf('collection'), portsOf('image'))).toEqual({ from: 'reference', into: 'reference', kind: 'reference' });
  expect(endsOf(bare, portsOf('prompt'), portsOf('image'))).toMatchObject({ into: 'prompt' });
  expect(endsOf(bare, portsOf('image'), portsOf('video'))).toMatchObject({ into: 'image' });
});

test('every type can be reached from a node of a type that nobody knows', () => {
  for (const type of NODE_TYPES) {
    const { into } = endsOf({ sourcePort: null, targetPort: null }, portsOf('somebody-else'), portsOf(type));
    expect(into, type).not.toBe('');
  }
  expect(portsOf('somebody-else').inputs).toHaveLength(1);
});

test('ports are named only where a node has several', () => {
  expect(namedPorts('prompt', 'prompt', portsOf('prompt'), portsOf('image'))).toEqual({ sourcePort: null, targetPort: 'prompt' });
  expect(namedPorts('image', 'image', portsOf('image'), portsOf('upscale'))).toEqual({ sourcePort: null, targetPort: null });
});

test('a port that only an edge names is drawn all the same', () => {
  const edges: FlowEdge[] = [{ id: 'e', source: 'a', target: 'b', sourcePort: null, targetPort: 'mask' }];
  const named = namedAt(edges).get('b');
  const key = keyOfNamed(named);
  expect(portsOf('image', namedOfKey(key)).inputs.map(({ id }) => id)).toEqual(['prompt', 'reference', 'mask']);
  expect(keyOfNamed(undefined)).toBe('');
  expect(namedOfKey('')).toEqual({ inputs: [], outputs: [] });
});

test('of several orders for a node the newest counts', () => {
  const order = (itemId: string | null, state: 'FAILED' | 'RUNNING', updatedAt: string) => ({ itemId, state, progress: 0, error: null, updatedAt, outputs: [] });
  const runs = runsOf([
    { jobs: [order('poster', 'RUNNING', '2026-05-02'), order(null, 'RUNNING', '2026-05-03')] },
    { jobs: [order('poster', 'FAILED', '2026-05-01')] },
  ]);
  expect([...runs].map(([id, { state }]) => [id, state])).toEqual([['poster', 'RUNNING']]);
});
