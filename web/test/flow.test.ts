/** What the canvas does to a flow's document. */
import { expect, test } from 'vitest';
import * as Y from 'yjs';

import { addNode, connect, edgesOf, freePlace, moveNodes, nodesOf, readEdges, readNodes, remove } from '../src/work/flow';

function flow(): { document: Y.Doc; a: string; b: string } {
  const document = new Y.Doc();
  const a = addNode(document, { x: 0, y: 0 });
  const b = addNode(document, { x: 100.4, y: 0 });
  connect(document, { source: a, target: b, sourcePort: null, targetPort: 'picture' });
  return { document, a, b };
}

function changesOf(document: Y.Doc, act: () => void): number {
  let changes = 0;
  document.on('update', () => (changes += 1));
  act();
  return changes;
}

test('nodes and edges have the layout of the contract', () => {
  const { document, a, b } = flow();
  expect(readNodes(document).map(({ id, position }) => [id, position])).toEqual([
    [a, { x: 0, y: 0 }],
    [b, { x: 100, y: 0 }],
  ]);
  const edge = [...edgesOf(document).values()][0] as Y.Map<unknown>;
  expect(edge.toJSON()).toEqual({ source: a, target: b, targetPort: 'picture' });
  expect((nodesOf(document).get(a) as Y.Map<unknown>).get('title')).toBeInstanceOf(Y.Text);
});

test('a node goes with its edges, in one change', () => {
  const { document, a, b } = flow();
  expect(changesOf(document, () => remove(document, [b], []))).toBe(1);
  expect(readNodes(document).map(({ id }) => id)).toEqual([a]);
  expect(edgesOf(document).size).toBe(0);
});

test('a drag that ends where it began writes nothing', () => {
  const { document, a } = flow();
  expect(changesOf(document, () => moveNodes(document, [{ id: a, position: { x: 0.2, y: -0.3 } }]))).toBe(0);
  expect(changesOf(document, () => moveNodes(document, [{ id: a, position: { x: 5, y: 5 } }]))).toBe(1);
});

test('the same ends are connected once, and nothing to itself', () => {
  const { document, a, b } = flow();
  connect(document, { source: a, target: b, sourcePort: null, targetPort: 'picture' });
  connect(document, { source: a, target: a, sourcePort: null, targetPort: null });
  expect(readEdges(document)).toHaveLength(1);
});

test('two people who move one node and connect another keep both', () => {
  const { document: mine, a, b } = flow();
  const yours = new Y.Doc();
  Y.applyUpdate(yours, Y.encodeStateAsUpdate(mine));
  moveNodes(mine, [{ id: a, position: { x: 40, y: 40 } }]);
  connect(yours, { source: b, target: a, sourcePort: null, targetPort: null });
  Y.applyUpdate(mine, Y.encodeStateAsUpdate(yours));
  Y.applyUpdate(yours, Y.encodeStateAsUpdate(mine));
  expect(readNodes(mine)).toEqual(readNodes(yours));
  expect(readEdges(mine)).toHaveLength(2);
});

test('a new node covers none of those that are there', () => {
  const others = [{ x: 0, y: 0 }, { x: 0, y: 170 }, { x: 250, y: 0 }];
  const place = freePlace(others, { x: 10, y: 10 });
  expect(others.every(({ x, y }) => Math.abs(place.x - x) >= 250 || Math.abs(place.y - y) >= 160)).toBe(true);
  expect(freePlace([], { x: 3, y: 4 })).toEqual({ x: 3, y: 4 });
});

test('what other editors stored in other ways is shown or left out, and breaks nothing', () => {
  const { document, a } = flow();
  nodesOf(document).set('plain', 'no node');
  nodesOf(document).set('bare', new Y.Map([['data', { label: 'From data' }]]));
  edgesOf(document).set('hanging', { source: a, target: 'gone' });
  edgesOf(document).set('plain', { source: a, target: 'bare' });
  expect(readNodes(document).map(({ title }) => title)).toContain('From data');
  expect(readEdges(document).map(({ id }) => id)).toContain('plain');
  expect(readEdges(document).map(({ id }) => id)).not.toContain('hanging');
});
