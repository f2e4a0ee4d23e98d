/**
 * A list that the API gives in pages, read as far as a person went: the first pages anew each time, so that what changed in
 * any of them is seen.
 *
 * Invariants
 * - Pages follow each other by cursor, so nothing is left out and nothing comes twice while the list changes meanwhile.
 */

/** Which way a list is read: from its first row on, or from its last row back. */
export type Direction = 'after' | 'before';

/** A connection as operations ask for it; each direction needs its own half of `pageInfo`. */
export interface Connection<N> {
  nodes: readonly N[];
  totalCount?: number;
  pageInfo: {
    hasNextPage?: boolean;
    endCursor?: string | null;
    hasPreviousPage?: boolean;
    startCursor?: string | null;
  };
}

/** As much of a list as was read. */
export interface Pages<N> {
  nodes: N[];
  /** How many pages these are. */
  count: number;
  hasMore: boolean;
  /** How many rows the whole list has, where the operation asks. */
  total: number | null;
}

/** Reads so many pages, or all there are; null where there is no such list. */
export async function readPages<N>(
  ask: (cursor: string | null) => Promise<Connection<N> | null | undefined>,
  most: number,
  direction: Direction = 'after',
): Promise<Pages<N> | null> {
  const read: Pages<N> = { nodes: [], count: 0, hasMore: true, total: null };
  let cursor: string | null = null;
  while (read.hasMore && read.count < most) {
    const page = await ask(cursor);
    if (!page) return null;
    read.nodes = direction === 'after' ? [...read.nodes, ...page.nodes] : [...page.nodes, ...read.nodes];
    read.total = page.totalCount ?? read.total;
    cursor = nextOf(page, direction);
    read.hasMore = cursor !== null;
    read.count += 1;
  }
  return read;
}

/** The cursor of the next page, or null after the last. */
function nextOf({ pageInfo }: Connection<unknown>, direction: Direction): string | null {
  if (direction === 'after') return pageInfo.hasNextPage ? (pageInfo.endCursor ?? null) : null;
  return pageInfo.hasPreviousPage ? (pageInfo.startCursor ?? null) : null;
}
