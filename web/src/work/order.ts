/**
 * Fractional order keys: base-62 text, compared by bytes, with room between any two that differ.
 *
 * Invariants
 * - A key that is made here never ends in the lowest digit, so there is always room before it.
 * - Nodes sort by (order, id); one without an order sorts last.
 */

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A node's place. */
export interface Placed {
  id: string;
  order: string | null;
}

/** Compares two nodes as every client and the server do. */
export function byOrder(one: Placed, other: Placed): number {
  if (one.order !== other.order) {
    if (one.order === null) return 1;
    if (other.order === null) return -1;
    return one.order < other.order ? -1 : 1;
  }
  return one.id < other.id ? -1 : one.id > other.id ? 1 : 0;
}

/** A key between two others (`''`: the beginning, null: the end), or null where there is no room. */
export function between(low: string, high: string | null): string | null {
  if (high !== null && low >= high) return null;
  let key = '';
  let ceiling = high;
  for (let at = 0; ; at += 1) {
    const from = at < low.length ? DIGITS.indexOf(low[at]!) : 0;
    const to = ceiling === null ? DIGITS.length : at < ceiling.length ? DIGITS.indexOf(ceiling[at]!) : -1;
    // No base-62 digit, or the ceiling is the floor and zeros.
    if (from < 0 || to < from) return null;
    if (to - from > 1) return key + DIGITS[step(from, to, ceiling === null && at < low.length)];
    key += DIGITS[from];
    if (to > from) ceiling = null;
  }
}

/** Keys for a whole list, where single ones have no room any more. */
export function evenly(count: number): string[] {
  const width = Math.max(1, Math.ceil(Math.log(count + 2) / Math.log(DIGITS.length)));
  const room = DIGITS.length ** width;
  return Array.from({ length: count }, (_, index) => digits(Math.floor(((index + 1) * room) / (count + 1)), width));
}

/** At the end of a list small steps, so that keys stay short; elsewhere the middle. */
function step(from: number, to: number, isAtEnd: boolean): number {
  return isAtEnd ? from + 1 : Math.floor((from + to) / 2);
}

function digits(value: number, width: number): string {
  let text = '';
  let rest = value;
  for (let place = 0; place < width; place += 1) {
    text = DIGITS[rest % DIGITS.length] + text;
    rest = Math.floor(rest / DIGITS.length);
  }
  // A key may not end in the lowest digit; one more place gives it room before itself.
  return text.endsWith(DIGITS[0]!) ? text + DIGITS[1] : text;
}
