/**
 * Ties a textarea to a Y.Text, so that several people can type in it at once.
 *
 * Invariants
 * - What a person types becomes the smallest edit; what others type moves the caret along.
 * - While characters are being composed (Chinese, Japanese, …) the textarea is left alone; both sides meet at the end.
 * - Undo takes back what was typed here, never what others typed.
 */
import * as Y from 'yjs';

import { shift, smallestEdit, type Delta } from './text_edit';

export class TextBinding {
  private shown = '';
  private isComposing = false;
  /** What others did while characters were being composed. */
  private missed: Delta[] = [];
  /** Made with the first own edit: each listens to every change of the whole document. */
  private undo: Y.UndoManager | null = null;
  private readonly listening = new AbortController();

  constructor(
    private readonly area: HTMLTextAreaElement,
    private readonly text: Y.Text,
  ) {
    const { signal } = this.listening;
    area.addEventListener('input', () => this.typed(), { signal });
    area.addEventListener('keydown', (event) => this.pressed(event), { signal });
    area.addEventListener('compositionstart', () => (this.isComposing = true), { signal });
    area.addEventListener('compositionend', () => this.composed(), { signal });
    text.observe(this.changed);
    this.show(0, 0);
  }

  /** Lets go of both. */
  dispose(): void {
    this.listening.abort();
    this.text.unobserve(this.changed);
    this.undo?.destroy();
  }

  private readonly changed = (event: Y.YTextEvent, transaction: Y.Transaction): void => {
    if (transaction.origin === this) return;
    const delta = event.delta as Delta;
    if (this.isComposing) {
      this.missed.push(delta);
      return;
    }
    this.show(shift(this.area.selectionStart, delta), shift(this.area.selectionEnd, delta));
  };

  private typed(): void {
    if (this.isComposing) return;
    this.apply();
    this.shown = this.area.value;
  }

  private composed(): void {
    this.isComposing = false;
    const caret = this.apply() ?? this.since(this.area.selectionEnd);
    this.missed = [];
    this.show(caret, caret);
  }

  /** Brings what the person did into the text; returns where the caret is then, if something was done. */
  private apply(): number | null {
    const edit = smallestEdit(this.shown, this.area.value, this.area.selectionEnd);
    if (!edit) return null;
    const at = this.since(edit.at);
    const remove = this.since(edit.at + edit.remove) - at;
    this.undo ??= new Y.UndoManager(this.text, { trackedOrigins: new Set([this]) });
    this.text.doc?.transact(() => {
      if (remove > 0) this.text.delete(at, remove);
      if (edit.insert) this.text.insert(at, edit.insert);
    }, this);
    return at + edit.insert.length;
  }

  private since(place: number): number {
    return this.missed.reduce((moved, delta) => shift(moved, delta), place);
  }

  private show(start: number, end: number): void {
    this.shown = this.text.toString();
    if (this.area.value === this.shown) return;
    // Elsewhere a selection would take the focus of some browsers with it, and asking where each of a thousand areas stands
    // would have the page laid out a thousand times.
    if (document.activeElement !== this.area) {
      this.area.value = this.shown;
      return;
    }
    const { scrollTop } = this.area;
    this.area.value = this.shown;
    this.area.scrollTop = scrollTop;
    this.area.setSelectionRange(start, end);
  }

  private pressed(event: KeyboardEvent): void {
    if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
    const key = event.key.toLowerCase();
    const isRedo = key === 'y' || (key === 'z' && event.shiftKey);
    if (!isRedo && key !== 'z') return;
    event.preventDefault();
    if (isRedo) this.undo?.redo();
    else this.undo?.undo();
  }
}
