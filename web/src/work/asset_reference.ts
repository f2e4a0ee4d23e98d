/** Which asset a shot, item or node of a flow shows: the one that one of its fields names. */
import type * as Y from 'yjs';

/** Where a picture that is chosen here is named. */
export const PICTURE = 'image';
const WORK_ID = /^work_[0-9a-f]{32}$/;

/** The asset that a node names, in whatever field. */
export function assetOf(node: Y.Map<unknown>): string | null {
  const own = node.get(PICTURE);
  if (typeof own === 'string' && WORK_ID.test(own)) return own;
  for (const value of node.values()) if (typeof value === 'string' && WORK_ID.test(value)) return value;
  return null;
}
