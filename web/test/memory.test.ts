/** What a forget would take, which version is shown, and what a file of memories holds. */
import { expect, test } from 'vitest';

import { exported } from '../src/memory/export';
import { canUndo, cutAround, reachOf, shownVersion, type Evidence, type Memory, type Version } from '../src/memory/reach';

let clock = 0;

function said(id: string, text = id): Evidence['message'] {
  return { id, text, createdAt: '2026-05-01T10:00:00Z', author: { kind: 'PERSON', label: 'Ada', user: { id: 'user_1' } }, task: null };
}

function rests(message: Evidence['message'], role: Evidence['role'] = 'ORIGIN'): Evidence {
  return { role, usable: true, quote: message.text, message };
}

function version(content: string | null, evidence: Evidence[], rest: Partial<Version> = {}): Version {
  clock += 1;
  const createdAt = `2026-05-01T10:00:00.${String(clock).padStart(6, '0')}Z`;
  return { version: 1, content, state: 'ACTIVE', validFrom: null, validTo: null, createdAt, evidence, derivedFrom: [], ...rest };
}

function memory(id: string, versions: Version[], rest: Partial<Memory> = {}): Memory {
  return {
    id,
    kind: 'FACT',
    scope: 'PERSON',
    basis: 'EXPLICIT',
    state: 'ACTIVE',
    inProfile: false,
    createdAt: '2026-05-01T10:00:00Z',
    updatedAt: '2026-05-01T10:00:00Z',
    current: { version: versions.at(-1)?.version ?? 1 },
    versions,
    ...rest,
  };
}

test('forgetting takes all versions of a memory, and what others made of the same messages', () => {
  const [blue, green, mixed] = [said('blue'), said('green'), said('blue and wide')];
  const brand = memory('m1', [
    version('brand is blue', [rests(blue)], { state: 'SUPERSEDED' }),
    version('brand is green', [rests(green, 'REFINE')], { version: 2 }),
  ]);
  const wide = memory('m2', [version('wide margins', [rests(mixed)])]);
  const poster = memory('m3', [version('posters are blue', [rests(blue)])]);
  const reach = reachOf(brand, [wide, brand, poster]);
  expect(reach.messages.map(({ id }) => id)).toEqual(['blue', 'green']);
  expect(reach.scrubbed.map(({ memory: { id }, versions }) => [id, versions.length])).toEqual([
    ['m1', 2],
    ['m3', 1],
  ]);
  expect(reach.unlinked).toEqual([]);
});

test('a memory that was only confirmed by the same message keeps its words', () => {
  const [first, again] = [said('first'), said('again')];
  const target = memory('m1', [version('one', [rests(again)])]);
  const other = memory('m2', [version('other', [rests(first), rests(again, 'CONFIRM')])]);
  const reach = reachOf(target, [target, other]);
  expect(reach.scrubbed.map(({ memory: { id } }) => id)).toEqual(['m1']);
  expect(reach.unlinked.map(({ id }) => id)).toEqual(['m2']);
});

test('what was derived from something that goes, goes too, however far', () => {
  const source = version('the fox limps', [rests(said('limp'))]);
  const episode = version('a fox film', [], { derivedFrom: [source] });
  const profile = version('likes foxes', [], { derivedFrom: [episode] });
  const all = [memory('m3', [profile]), memory('m2', [episode]), memory('m1', [source])];
  expect(reachOf(all[2] as Memory, all).scrubbed.map(({ memory: { id } }) => id)).toEqual(['m1', 'm3', 'm2']);
});

test('words that are gone already are not shown as going', () => {
  const gone = memory('m1', [version(null, [rests(said('a'))], { state: 'FORGOTTEN' })], { state: 'FORGOTTEN', current: null });
  expect(reachOf(gone, [gone]).scrubbed).toEqual([]);
});

test('the version that holds is shown, else the last with words', () => {
  const versions = [version('old', [], { state: 'SUPERSEDED' }), version('new', [], { version: 2 })];
  expect(shownVersion(memory('m', versions, { current: { version: 1 } }))?.content).toBe('old');
  expect(shownVersion(memory('m', versions, { current: null }))?.content).toBe('new');
});

test('a change can be taken back only where something held before and its words are there', () => {
  const before = version('old', [], { state: 'SUPERSEDED' });
  const now = version('new', [], { version: 2 });
  expect(canUndo(memory('m', [before, now]))).toBe(true);
  expect(canUndo(memory('m', [now]))).toBe(false);
  expect(canUndo(memory('m', [{ ...before, content: null }, now]))).toBe(false);
  expect(canUndo(memory('m', [before, now], { state: 'FORGOTTEN', current: null }))).toBe(false);
});

test('the sentence that was named is cut out of its message', () => {
  expect(cutAround('Hi! Our brand is green. Bye.', 'Our brand is green.')).toEqual(['Hi! ', 'Our brand is green.', ' Bye.']);
  expect(cutAround('Hi!', 'elsewhere')).toBeNull();
  expect(cutAround('Hi!', null)).toBeNull();
});

test('a file of memories names each with its versions and the messages behind them', () => {
  const text = exported([memory('m1', [version('brand is green', [rests(said('green', 'we are green'))])])], { id: 'workspace_1', name: 'Room' }, new Date(0));
  const { memories, exportedAt, workspace } = JSON.parse(text);
  expect(exportedAt).toBe('1970-01-01T00:00:00.000Z');
  expect(workspace.name).toBe('Room');
  expect(memories[0]).toMatchObject({ id: 'm1', current: 1 });
  expect(memories[0].versions[0].evidence[0]).toMatchObject({ messageId: 'green', text: 'we are green', by: 'Ada' });
});
