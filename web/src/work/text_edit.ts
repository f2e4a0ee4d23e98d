/**
 * Edits of a text, as a person at a keyboard makes them: one place at a time.
 *
 * Invariants
 * - An edit never begins or ends inside a character: halves of surrogate pairs stay together.
 */

/** Replaces `remove` UTF-16 units at `at` by `insert`. */
export interface TextEdit {
  at: number;
  remove: number;
  insert: string;
}

/** A change of a Y.Text, as Yjs describes it. */
export type Delta = { retain?: number; insert?: unknown; delete?: number }[];

/** The smallest edit that makes `before` into `after`, or null where they are the same; `caret` is where it is in `after`. */
export function smallestEdit(before: string, after: string, caret: number): TextEdit | null {
  if (before === after) return null;
  const common = Math.min(before.length, after.length);
  // Typing "a" beside an "a" could have happened on either side; the caret says on which.
  const typedFrom = Math.max(0, caret - Math.max(0, after.length - before.length));
  let start = 0;
  while (start < Math.min(common, typedFrom) && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < common - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  while (start < common - end && before[start] === after[start]) start += 1;
  if (splitsPair(before, start) || splitsPair(after, start)) start -= 1;
  if (splitsPair(before, before.length - end) || splitsPair(after, after.length - end)) end -= 1;
  return { at: start, remove: before.length - end - start, insert: after.slice(start, after.length - end) };
}

/** Where a place in a text is after a change by somebody else. */
export function shift(place: number, delta: Delta): number {
  let at = 0;
  let shifted = place;
  for (const part of delta) {
    if (part.retain !== undefined) {
      at += part.retain;
    } else if (typeof part.insert === 'string') {
      if (at < shifted) shifted += part.insert.length;
      at += part.insert.length;
    } else if (part.delete !== undefined) {
      shifted -= Math.max(0, Math.min(part.delete, shifted - at));
    }
  }
  return shifted;
}

function splitsPair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  return before >= 0xd800 && before < 0xdc00 && after >= 0xdc00 && after < 0xe000;
}
