/** What is different between two versions, as people read it. */
import { expect, test } from 'vitest';

import { differNodes, differText } from '../src/work/differences';

const node = (id: string, fields: Record<string, unknown>) => ({ id, type: 'shot', fields });

test('only the words that changed are taken out and put in', () => {
  expect(differText('A red fox at dawn.', 'A grey fox at dusk.')).toEqual([
    { kind: 'same', text: 'A ' },
    { kind: 'out', text: 'red' },
    { kind: 'in', text: 'grey' },
    { kind: 'same', text: ' fox at ' },
    { kind: 'out', text: 'dawn' },
    { kind: 'in', text: 'dusk' },
    { kind: 'same', text: '.' },
  ]);
});

test('Han characters are compared one by one, and whole characters stay whole', () => {
  expect(differText('红色的狐狸😀', '灰色的狐狸😃')).toEqual([
    { kind: 'out', text: '红' },
    { kind: 'in', text: '灰' },
    { kind: 'same', text: '色的狐狸' },
    { kind: 'out', text: '😀' },
    { kind: 'in', text: '😃' },
  ]);
});

test('out and in together give the later text, whatever the texts are', () => {
  const words = ['fox', 'dawn', ' ', '狐', 'x', '\n'];
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
  for (let round = 0; round < 300; round += 1) {
    const text = (): string => Array.from({ length: random(12) }, () => words[random(words.length)]).join('');
    const [before, after] = [text(), text()];
    const pieces = differText(before, after);
    const side = (left: string): string => pieces.filter(({ kind }) => kind !== left).map((piece) => piece.text).join('');
    expect([side('in'), side('out')]).toEqual([before, after]);
  }
});

test('two long texts that share nothing are one out and one in', () => {
  const [before, after] = ['a '.repeat(3_000), 'b-'.repeat(3_000)];
  expect(differText(before, after)).toHaveLength(2);
});

test('nodes are added, removed, changed and moved', () => {
  const before = [node('a', { title: 'One' }), node('b', { title: 'Two' }), node('c', { title: 'Three' }), node('d', {})];
  const after = [node('b', { title: 'Two' }), node('a', { title: 'One' }), node('c', { title: '3', duration: 4 }), node('e', {})];
  const found = differNodes(before, after);
  expect(found.map(({ id, kind }) => [id, kind])).toEqual([
    ['b', 'moved'],
    ['a', 'moved'],
    ['c', 'changed'],
    ['e', 'added'],
    ['d', 'removed'],
  ]);
  expect(found[2]?.fields.map(({ name }) => name)).toEqual(['duration', 'title']);
});
