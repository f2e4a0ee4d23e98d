/** What answers of the server prove, frame by frame. */
import { createEncoder, toUint8Array, writeVarString, writeVarUint, writeVarUint8Array } from 'lib0/encoding';
import { expect, test } from 'vitest';

import { AtelierError } from '../src/index.js';
import { Ledger } from '../src/ledger.js';

function frame(type: number, ...rest: number[]): Uint8Array {
  const encoder = createEncoder();
  writeVarString(encoder, 'work_1');
  writeVarUint(encoder, type);
  for (const part of rest) writeVarUint(encoder, part);
  if (type === 0) writeVarUint8Array(encoder, new Uint8Array([0, 0]));
  return toUint8Array(encoder);
}

const STEP_1 = frame(0, 0);
const STEP_2 = frame(0, 1);
const UPDATE = frame(0, 2);
const STORED = frame(8, 1);
const REFUSED = frame(8, 0);

const newLedger = (): Ledger => new Ledger(() => undefined);

test('a document is saved when the server has taken the whole of it', () => {
  const ledger = newLedger();
  const account = ledger.open();
  account.send(STEP_1);
  expect(ledger.hasUnsaved).toBe(true);
  account.send(STEP_2);
  account.hear(STORED);
  expect(ledger.hasUnsaved).toBe(false);
});

test('updates that waited for the connection prove nothing of what was typed after them', () => {
  const ledger = newLedger();
  ledger.edited();
  ledger.edited();
  const account = ledger.open();
  account.send(UPDATE);
  account.send(UPDATE);
  account.hear(STORED);
  account.hear(STORED);
  expect(ledger.hasUnsaved).toBe(true);
  account.send(STEP_2);
  account.hear(STORED);
  expect(ledger.hasUnsaved).toBe(false);
});

test('each answer proves the edits up to its own frame', async () => {
  const ledger = newLedger();
  const account = ledger.open();
  account.send(STEP_2);
  ledger.edited();
  account.send(UPDATE);
  const first = ledger.whenSaved();
  ledger.edited();
  account.send(UPDATE);
  account.hear(STORED);
  account.hear(STORED);
  await first;
  expect(ledger.hasUnsaved).toBe(true);
  account.hear(STORED);
  expect(ledger.hasUnsaved).toBe(false);
});

test('what an earlier connection still says proves nothing', () => {
  const ledger = newLedger();
  const before = ledger.open();
  before.send(STEP_2);
  ledger.open();
  before.hear(STORED);
  expect(ledger.hasUnsaved).toBe(true);
});

test('after a refusal later edits count only with the whole document', async () => {
  const ledger = newLedger();
  const account = ledger.open();
  account.send(STEP_2);
  account.hear(STORED);
  ledger.edited();
  account.send(UPDATE);
  const saved = ledger.whenSaved();
  account.hear(REFUSED);
  await expect(saved).rejects.toBeInstanceOf(AtelierError);
  ledger.edited();
  account.send(UPDATE);
  account.hear(STORED);
  expect(ledger.hasUnsaved).toBe(true);
  account.send(STEP_2);
  account.hear(STORED);
  expect(ledger.hasUnsaved).toBe(false);
});

test('pings and texts are no frames of a document', () => {
  const account = newLedger().open();
  for (const other of ['text', new Uint8Array([9]), new ArrayBuffer(1), frame(1)]) {
    account.send(other);
    account.hear(other);
  }
});
