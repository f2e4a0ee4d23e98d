/**
 * What is different between two versions of a work, for people to read.
 *
 * Invariants
 * - Texts are compared word by word; two that have nothing in common are shown as one taken out and one put in.
 */

export interface Piece {
  kind: 'same' | 'out' | 'in';
  text: string;
}

export interface NodeLike {
  id: string;
  type: string;
  fields: unknown;
}

export interface FieldDifference {
  name: string;
  pieces: Piece[];
}

export interface NodeDifference {
  id: string;
  title: string;
  kind: 'added' | 'removed' | 'changed' | 'moved';
  fields: FieldDifference[];
}

/** Beyond this many comparisons a text is not compared word by word. */
const MOST_COMPARISONS = 4_000_000;

export function differText(before: string, after: string): Piece[] {
  const [left, right] = [tokens(before), tokens(after)];
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < left.length - start && end < right.length - start && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  const middle = compare(left.slice(start, left.length - end), right.slice(start, right.length - end));
  const pieces: Piece[] = [
    { kind: 'same', text: left.slice(0, start).join('') },
    ...middle,
    { kind: 'same', text: left.slice(left.length - end).join('') },
  ];
  return merged(pieces);
}

/** Nodes that were added, removed, changed, or stand elsewhere among those that stayed. */
export function differNodes(before: readonly NodeLike[], after: readonly NodeLike[]): NodeDifference[] {
  const known = new Map(before.map((node) => [node.id, node]));
  const left = new Map(after.map((node) => [node.id, node]));
  const stayed = before.filter(({ id }) => left.has(id)).map(({ id }) => id);
  const order = after.filter(({ id }) => known.has(id)).map(({ id }) => id);
  const found: NodeDifference[] = [];
  for (const node of after) {
    const earlier = known.get(node.id);
    if (!earlier) {
      found.push({ id: node.id, title: titleOf(node), kind: 'added', fields: differFields({}, valuesOf(node)) });
      continue;
    }
    const fields = differFields(valuesOf(earlier), valuesOf(node));
    if (fields.length > 0) found.push({ id: node.id, title: titleOf(node), kind: 'changed', fields });
    else if (stayed.indexOf(node.id) !== order.indexOf(node.id)) {
      found.push({ id: node.id, title: titleOf(node), kind: 'moved', fields: [] });
    }
  }
  for (const node of before) {
    if (!left.has(node.id)) found.push({ id: node.id, title: titleOf(node), kind: 'removed', fields: [] });
  }
  return found;
}

function differFields(before: Record<string, unknown>, after: Record<string, unknown>): FieldDifference[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name) => {
    const [left, right] = [shown(before[name]), shown(after[name])];
    return left === right ? [] : [{ name, pieces: differText(left, right) }];
  });
}

function valuesOf({ fields, type }: NodeLike): Record<string, unknown> {
  return { ...(typeof fields === 'object' && fields !== null ? fields : {}), ...(type && { type }) };
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function titleOf(node: NodeLike): string {
  const { title } = valuesOf(node);
  return typeof title === 'string' && title !== '' ? title : node.id;
}

/** Words, spaces and signs; each Han character is a word of its own. */
function tokens(text: string): string[] {
  return text.match(/\p{Script=Han}|[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

function compare(left: string[], right: string[]): Piece[] {
  if (left.length * right.length > MOST_COMPARISONS) return replaced(left, right);
  // Longest common run of words, from the ends to the beginnings.
  const width = right.length + 1;
  const lengths = new Uint32Array((left.length + 1) * width);
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      const at = i * width + j;
      lengths[at] =
        left[i] === right[j]
          ? (lengths[at + width + 1] ?? 0) + 1
          : Math.max(lengths[at + width] ?? 0, lengths[at + 1] ?? 0);
    }
  }
  const pieces: Piece[] = [];
  let [i, j] = [0, 0];
  while (i < left.length && j < right.length) {
    if (left[i] === right[j]) {
      pieces.push({ kind: 'same', text: left[i] ?? '' });
      i += 1;
      j += 1;
    } else if ((lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0)) {
      pieces.push({ kind: 'out', text: left[i++] ?? '' });
    } else {
      pieces.push({ kind: 'in', text: right[j++] ?? '' });
    }
  }
  return [...pieces, ...replaced(left.slice(i), right.slice(j))];
}

function replaced(left: string[], right: string[]): Piece[] {
  return [
    { kind: 'out', text: left.join('') },
    { kind: 'in', text: right.join('') },
  ];
}

function merged(pieces: Piece[]): Piece[] {
  const result: Piece[] = [];
  for (const piece of pieces) {
    if (piece.text === '') continue;
    const last = result.at(-1);
    if (last?.kind === piece.kind) last.text += piece.text;
    else result.push({ ...piece });
  }
  return result;
}
