/** A textarea and a shared text, with somebody else typing in it too. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import * as Y from 'yjs';

import { TextBinding } from '../src/work/text_binding';

/** As much of a textarea as a binding touches. */
class Area extends EventTarget {
  value = '';
  selectionStart = 0;
  selectionEnd = 0;
  scrollTop = 0;

  setSelectionRange(start: number, end: number): void {
    [this.selectionStart, this.selectionEnd] = [start, end];
  }

  /** What a browser does when a person types at the caret. */
  type(words: string): void {
    this.value = this.value.slice(0, this.selectionStart) + words + this.value.slice(this.selectionEnd);
    this.setSelectionRange(this.selectionStart + words.length, this.selectionStart + words.length);
    this.dispatchEvent(new Event('input'));
  }
}

let area: Area;
let text: Y.Text;
let theirs: Y.Doc;
let binding: TextBinding;

beforeEach(() => {
  const document = new Y.Doc();
  theirs = new Y.Doc();
  document.on('update', (update: Uint8Array) => Y.applyUpdate(theirs, update));
  theirs.on('update', (update: Uint8Array) => Y.applyUpdate(document, update));
  text = document.getText('text');
  text.insert(0, 'fox');
  area = new Area();
  vi.stubGlobal('document', { activeElement: area });
  binding = new TextBinding(area as unknown as HTMLTextAreaElement, text);
});

afterEach(() => {
  binding.dispose();
  vi.unstubAllGlobals();
});

test('what is in the text is shown, and what is typed is in the text', () => {
  expect(area.value).toBe('fox');
  area.setSelectionRange(0, 0);
  area.type('red ');
  expect(theirs.getText('text').toString()).toBe('red fox');
});

test('what somebody else types before the caret moves it along', () => {
  area.setSelectionRange(3, 3);
  theirs.getText('text').insert(0, 'red ');
  expect(area.value).toBe('red fox');
  expect(area.selectionEnd).toBe(7);
});

test('a composition is not disturbed, and lands where it was begun', () => {
  area.setSelectionRange(3, 3);
  area.dispatchEvent(new Event('compositionstart'));
  area.type('n');
  area.type('i');
  theirs.getText('text').insert(0, 'red ');
  expect(area.value).toBe('foxni');
  area.value = 'fox你';
  area.setSelectionRange(4, 4);
  area.dispatchEvent(new Event('compositionend'));
  expect(text.toString()).toBe('red fox你');
  expect(area.value).toBe('red fox你');
  expect(area.selectionEnd).toBe(8);
});

test('undo takes back what was typed here, not what somebody else typed', () => {
  area.setSelectionRange(3, 3);
  area.type('es');
  theirs.getText('text').insert(0, 'two ');
  const undo = Object.assign(new Event('keydown', { cancelable: true }), { ctrlKey: true, key: 'z' });
  area.dispatchEvent(undo);
  expect(area.value).toBe('two fox');
  expect(undo.defaultPrevented).toBe(true);
});
