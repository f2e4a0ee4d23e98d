/** What somebody typed, told from two states of a text. */
import { expect, test } from 'vitest';

import { shift, smallestEdit } from '../src/work/text_edit';

test('typing a letter is an insertion where the caret was', () => {
  expect(smallestEdit('aa', 'aaa', 1)).toEqual({ at: 0, remove: 0, insert: 'a' });
  expect(smallestEdit('aa', 'aaa', 3)).toEqual({ at: 2, remove: 0, insert: 'a' });
});

test('deleting and replacing touch nothing else', () => {
  expect(smallestEdit('one two three', 'one three', 4)).toEqual({ at: 4, remove: 4, insert: '' });
  expect(smallestEdit('red fox', 'dead fox', 4)).toEqual({ at: 0, remove: 2, insert: 'dea' });
});

test('nothing typed is no edit', () => {
  expect(smallestEdit('same', 'same', 2)).toBeNull();
});

test('characters outside of the basic plane are never torn apart', () => {
  // Both faces begin with the same half, and both flags end with the same half.
  expect(smallestEdit('a😀b', 'a😁b', 3)).toEqual({ at: 1, remove: 2, insert: '😁' });
  const edit = smallestEdit('\u{1f600}', '\u{1fa00}', 2);
  expect(edit).toEqual({ at: 0, remove: 2, insert: '\u{1fa00}' });
});

test('every edit leads from one text to the other', () => {
  const texts = ['', 'a', 'aa', 'aba', 'hello', 'héllo 😀', '😀😀', '😀😁', '分镜', '分镜头'];
  for (const before of texts) {
    for (const after of texts) {
      for (let caret = 0; caret <= after.length; caret += 1) {
        const edit = smallestEdit(before, after, caret);
        const { at, remove, insert } = edit ?? { at: 0, remove: 0, insert: '' };
        const made = before.slice(0, at) + insert + before.slice(at + remove);
        expect(made, JSON.stringify({ before, after, caret })).toBe(after);
      }
    }
  }
});

test('a caret moves with what others type before it, and stays with what they type after it', () => {
  expect(shift(3, [{ retain: 1 }, { insert: 'xy' }])).toBe(5);
  expect(shift(3, [{ retain: 3 }, { insert: 'xy' }])).toBe(3);
  expect(shift(3, [{ retain: 1 }, { delete: 5 }])).toBe(1);
  expect(shift(7, [{ retain: 1 }, { delete: 2 }, { insert: 'z' }])).toBe(6);
});
