/**
 * What a forget would take: found by walking provenance forward, as the server does.
 *
 * Invariants
 * - It is a preview. The server has the last word, and may know memories of others that are not shown here.
 * - A version that only lost a confirmation keeps its words; the target's own versions all lose theirs.
 */
import type { MemoryPartsFragment } from '../operations/generated';

export type Memory = MemoryPartsFragment;
export type Version = Memory['versions'][number];
export type Evidence = Version['evidence'][number];

export interface Reach {
  /** Messages that may not be used any more. */
  messages: Evidence['message'][];
  /** Versions that lose their words, the target's own first. */
  scrubbed: { memory: Memory; versions: Version[] }[];
  /** Memories that lose a confirmation alone. */
  unlinked: Memory[];
}

/** What forgetting this memory takes from all of these. */
export function reachOf(target: Memory, all: readonly Memory[]): Reach {
  const messages = new Map<string, Evidence['message']>();
  for (const { evidence } of target.versions) for (const { message } of evidence) messages.set(message.id, message);
  const memories = [target, ...all.filter(({ id }) => id !== target.id)];
  const reached = new Set<string>();
  const isMadeOf = ({ evidence }: Version): boolean => evidence.some(({ message, role }) => role !== 'CONFIRM' && messages.has(message.id));
  for (const version of target.versions) reached.add(nameOf(version));
  // Until nothing more is found: what is made of something that goes, goes too.
  for (let before = -1; before !== reached.size; ) {
    before = reached.size;
    for (const version of memories.flatMap(({ versions }) => versions)) {
      if (isMadeOf(version) || version.derivedFrom.some((source) => reached.has(nameOf(source)))) reached.add(nameOf(version));
    }
  }
  const found: Reach = { messages: [...messages.values()], scrubbed: [], unlinked: [] };
  for (const memory of memories) {
    const versions = memory.versions.filter((version) => version.content !== null && reached.has(nameOf(version)));
    if (versions.length > 0) found.scrubbed.push({ memory, versions });
    else if (memory.versions.some(({ evidence }) => evidence.some(({ message }) => messages.has(message.id)))) found.unlinked.push(memory);
  }
  return found;
}

/** The version that holds, or the last one with words. */
export function shownVersion({ versions, current }: Memory): Version | null {
  const holds = versions.find(({ version }) => version === current?.version);
  return holds ?? versions.findLast(({ content }) => content !== null) ?? versions.at(-1) ?? null;
}

/** Whether a change can be taken back: something else held before, and its words are there. */
export function canUndo({ versions, current, state }: Memory): boolean {
  if (state !== 'ACTIVE' || !current) return false;
  return versions.some((each) => each.version < current.version && each.state === 'SUPERSEDED' && each.content !== null);
}

/** A message in three pieces: before the words that were named, those, and after; null where they do not stand in it. */
export function cutAround(text: string, quote: string | null): [string, string, string] | null {
  if (!quote) return null;
  const at = text.indexOf(quote);
  return at < 0 ? null : [text.slice(0, at), quote, text.slice(at + quote.length)];
}

/** A version's own name: the API gives versions that something was made of without their memory's id. */
function nameOf({ version, createdAt, content }: { version: number; createdAt: string; content: string | null }): string {
  return `${createdAt} ${version} ${content ?? ''}`;
}
