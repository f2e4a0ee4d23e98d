/**
 * A storyboard's or collection's document: shots or items in a Y.Map `nodes`, each a Y.Map with `type`, `order` and its fields.
 *
 * Invariants
 * - Each thing that a person does is one transaction, hence one change.
 * - Prose lives in Y.Text, so that two people can type in one field at once.
 */
import * as Y from 'yjs';

import { between, byOrder, evenly, type Placed } from './order';

export type Prose = 'title' | 'description' | 'prompt' | 'notes';

/** What a card of a kind of work is made of. */
export interface Layout {
  /** The type of a card that is added here. */
  type: 'shot' | 'item';
  /** The fields that people type prose into. */
  prose: readonly Prose[];
}

export const SHOTS: Layout = { type: 'shot', prose: ['title', 'description', 'prompt'] };
export const ITEMS: Layout = { type: 'item', prose: ['title', 'notes'] };

export type Shot = Y.Map<unknown>;

/** The ids of the shots in the order of the board. */
export function shotIds(document: Y.Doc): string[] {
  return placed(document).map((shot) => shot.id);
}

/** The shot with this id, unless it is gone. */
export function findShot(document: Y.Doc, id: string): Shot | null {
  const shot = nodes(document).get(id);
  return shot instanceof Y.Map ? shot : null;
}

/** Adds an empty shot or item at the end and returns its id. */
export function addShot(document: Y.Doc, { type, prose }: Layout = SHOTS): string {
  const id = `${type}_${randomHex()}`;
  document.transact(() => {
    const last = placed(document).at(-1);
    const shot: Shot = new Y.Map();
    shot.set('type', type);
    for (const field of prose) shot.set(field, new Y.Text());
    nodes(document).set(id, shot);
    place(document, id, last ? last.id : null);
  });
  return id;
}

/** Removes a shot; one that is gone already is no error. */
export function removeShot(document: Y.Doc, id: string): void {
  nodes(document).delete(id);
}

/** Moves a shot one place to the left (-1) or to the right (1). */
export function moveShot(document: Y.Doc, id: string, by: -1 | 1): void {
  const ids = shotIds(document);
  const from = ids.indexOf(id);
  const to = from + by;
  if (from < 0 || to < 0 || to >= ids.length) return;
  const after = ids[by === 1 ? to : to - 1] ?? null;
  document.transact(() => place(document, id, after));
}

/** Moves a shot right after another one; null makes it the first. */
export function moveAfter(document: Y.Doc, id: string, after: string | null): void {
  const ids = shotIds(document);
  const at = ids.indexOf(id);
  // Where it stands already nothing is written.
  if (at < 0 || after === id || (ids[at - 1] ?? null) === after) return;
  document.transact(() => place(document, id, after));
}

/** The text of a field, made into a Y.Text where an editor stored something else. */
export function proseOf(document: Y.Doc, shot: Shot, field: Prose): Y.Text {
  const value = shot.get(field);
  if (value instanceof Y.Text) return value;
  const text = new Y.Text(typeof value === 'string' ? value : '');
  document.transact(() => shot.set(field, text));
  return text;
}

/** What a field shows, whatever it holds. */
export function shown(shot: Shot, field: Prose): string {
  const value = shot.get(field);
  return value instanceof Y.Text || typeof value === 'string' ? value.toString() : '';
}

function nodes(document: Y.Doc): Y.Map<unknown> {
  return document.getMap('nodes');
}

function placed(document: Y.Doc): Placed[] {
  const shots: Placed[] = [];
  nodes(document).forEach((value, id) => {
    if (!(value instanceof Y.Map)) return;
    const order = value.get('order');
    shots.push({ id, order: typeof order === 'string' ? order : null });
  });
  return shots.sort(byOrder);
}

/** Gives a shot an order right after another one (null: the first); gives all a new one where there is no room. */
function place(document: Y.Doc, id: string, after: string | null): void {
  const others = placed(document).filter((shot) => shot.id !== id);
  const at = after === null ? 0 : others.findIndex((shot) => shot.id === after) + 1;
  const low = at === 0 ? '' : (others[at - 1]?.order ?? null);
  const high = others[at]?.order ?? null;
  const isLast = at === others.length;
  const key = low !== null && (isLast || high !== null) ? between(low, isLast ? null : high) : null;
  if (key !== null) {
    findShot(document, id)?.set('order', key);
    return;
  }
  const ids = others.map((shot) => shot.id);
  ids.splice(at, 0, id);
  const keys = evenly(ids.length);
  ids.forEach((each, index) => findShot(document, each)?.set('order', keys[index]));
}

/** Not `randomUUID`: browsers keep that from pages that came over plain HTTP. */
function randomHex(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
