/** What the board does to a storyboard's document, and what two people who do it at once end up with. */
import { expect, test } from 'vitest';
import * as Y from 'yjs';

import { addShot, findShot, ITEMS, moveAfter, moveShot, proseOf, removeShot, shotIds, shown } from '../src/work/storyboard';

function board(shots: number): { document: Y.Doc; ids: string[] } {
  const document = new Y.Doc();
  const ids = Array.from({ length: shots }, () => addShot(document));
  return { document, ids };
}

function exchange(one: Y.Doc, other: Y.Doc): void {
  Y.applyUpdate(other, Y.encodeStateAsUpdate(one));
  Y.applyUpdate(one, Y.encodeStateAsUpdate(other));
}

test('a new shot stands at the end, with the layout of the contract', () => {
  const { document, ids } = board(3);
  expect(shotIds(document)).toEqual(ids);
  const shot = findShot(document, ids[2]!)!;
  expect(shot.get('type')).toBe('shot');
  expect(shot.get('order')).toMatch(/^[0-9A-Za-z]+$/);
  expect(shot.get('prompt')).toBeInstanceOf(Y.Text);
});

test('everything that a person does is one change', () => {
  const { document, ids } = board(3);
  let changes = 0;
  document.on('update', () => (changes += 1));
  addShot(document);
  moveShot(document, ids[0]!, 1);
  removeShot(document, ids[1]!);
  expect(changes).toBe(3);
});

test('shots move one place, and not beyond the ends', () => {
  const { document, ids } = board(3);
  const [a, b, c] = ids as [string, string, string];
  moveShot(document, a, 1);
  expect(shotIds(document)).toEqual([b, a, c]);
  moveShot(document, a, 1);
  moveShot(document, a, 1);
  expect(shotIds(document)).toEqual([b, c, a]);
  moveShot(document, c, -1);
  moveShot(document, c, -1);
  expect(shotIds(document)).toEqual([c, b, a]);
});

test('shots that others placed alike, or not at all, can be moved too', () => {
  const document = new Y.Doc();
  for (const [id, order] of [['a', 'V'], ['b', 'V'], ['c', null]] as const) {
    const shot = new Y.Map();
    if (order) shot.set('order', order);
    document.getMap('nodes').set(id, shot);
  }
  moveShot(document, 'c', -1);
  expect(shotIds(document)).toEqual(['a', 'c', 'b']);
  moveShot(document, 'a', 1);
  expect(shotIds(document)).toEqual(['c', 'a', 'b']);
});

test('two people who type in one field and add shots at once keep all of it', () => {
  const { document: mine, ids } = board(1);
  const yours = new Y.Doc();
  exchange(mine, yours);
  proseOf(mine, findShot(mine, ids[0]!)!, 'title').insert(0, 'Dawn');
  proseOf(yours, findShot(yours, ids[0]!)!, 'title').insert(0, 'Dusk');
  addShot(mine);
  addShot(yours);
  exchange(mine, yours);
  expect(shotIds(mine)).toEqual(shotIds(yours));
  expect(shotIds(mine)).toHaveLength(3);
  const title = shown(findShot(mine, ids[0]!)!, 'title');
  expect(title).toHaveLength(8);
  expect(title).toContain('Dawn');
  expect(title).toContain('Dusk');
});

test('a field that another editor stored as a plain string becomes text with the same words', () => {
  const { document, ids } = board(1);
  const shot = findShot(document, ids[0]!)!;
  shot.set('prompt', 'a red fox');
  expect(shown(shot, 'prompt')).toBe('a red fox');
  expect(proseOf(document, shot, 'prompt').toString()).toBe('a red fox');
  expect(shot.get('prompt')).toBeInstanceOf(Y.Text);
});

test('a shot is dropped anywhere in one change, and where it stands already nothing is written', () => {
  const { document, ids } = board(4);
  const [a, b, c, d] = ids as [string, string, string, string];
  let changes = 0;
  document.on('update', () => (changes += 1));
  moveAfter(document, d, null);
  expect(shotIds(document)).toEqual([d, a, b, c]);
  moveAfter(document, d, b);
  expect(shotIds(document)).toEqual([a, b, d, c]);
  moveAfter(document, d, b);
  moveAfter(document, d, d);
  expect(shotIds(document)).toEqual([a, b, d, c]);
  expect(changes).toBe(2);
});

test('an item of a collection has its own type and fields', () => {
  const document = new Y.Doc();
  const item = findShot(document, addShot(document, ITEMS))!;
  expect(item.get('type')).toBe('item');
  expect(item.get('notes')).toBeInstanceOf(Y.Text);
  expect(item.has('prompt')).toBe(false);
});
