/** Amounts as they are typed, shares of a budget, and what days add up to. */
import { expect, test } from 'vitest';

import { amountOf, sharesOf, typedAs } from '../src/money/amount';
import { niceTop } from '../src/usage/bars';
import { daysBetween, dayOf, spending, tally, type StepUsage } from '../src/usage/tally';

test('what is typed becomes millionths exactly', () => {
  const micros = (text: string) => amountOf(text, 'USD')?.micros;
  expect(micros('12.5')).toBe(12_500_000);
  expect(micros('0,07')).toBe(70_000);
  expect(micros('1 000')).toBe(1_000_000_000);
  expect(micros('0.000001')).toBe(1);
  expect(micros('0.1')).toBe(100_000);
});

test('an empty field is no limit, and what is no amount is nothing', () => {
  expect(amountOf('  ', 'USD')).toBeNull();
  for (const text of ['abc', '-1', '1.2.3', '1e5', '0.0000001', '.5']) expect(amountOf(text, 'USD'), text).toBeUndefined();
});

test('an amount is typed back as it was', () => {
  for (const text of ['12.5', '0.07', '5', '0.000001']) expect(typedAs(amountOf(text, 'USD')?.micros ?? -1)).toBe(text);
});

test('shares are of the limit, or of all that is used where that is more', () => {
  const money = (micros: number) => ({ micros });
  expect(sharesOf({ limit: money(10), spent: money(4), reserved: money(1) })).toEqual({ spent: 0.4, reserved: 0.1, isFull: false, left: 5 });
  expect(sharesOf({ limit: null, spent: money(3), reserved: money(1) })).toEqual({ spent: 0.75, reserved: 0.25, isFull: false, left: null });
  expect(sharesOf({ limit: money(2), spent: money(3), reserved: money(1) })).toMatchObject({ isFull: true, left: 0, spent: 0.75 });
  expect(sharesOf({ limit: null, spent: money(0), reserved: money(0) })).toMatchObject({ spent: 0, isFull: false });
});

const NOON = new Date(2026, 4, 20, 12).getTime();
const DAY = 24 * 60 * 60 * 1_000;

function step(daysAgo: number, input: number, cached: number): StepUsage {
  const context = { model: 'm', stablePrefix: 10, summaries: 1, recent: 2, dynamicTail: 3, inputTokens: input, cachedTokens: cached, outputTokens: 5 };
  return { decidedAt: new Date(NOON - daysAgo * DAY).toISOString(), context };
}

test('steps add up by the day, with empty days between', () => {
  const days = tally([step(9, 100, 40), step(9, 50, 10), step(0, 7, 0)], NOON);
  expect(days).toHaveLength(10);
  expect(days[0]).toMatchObject({ inputTokens: 150, cachedTokens: 50, steps: 2, layers: { stablePrefix: 20 } });
  expect(days[5]).toMatchObject({ inputTokens: 0, steps: 0 });
  expect(days.at(-1)).toMatchObject({ day: dayOf(NOON), inputTokens: 7 });
});

test('a chart shows a week at least, and thirty days at most', () => {
  expect(daysBetween([dayOf(NOON)], NOON)).toHaveLength(7);
  expect(daysBetween([dayOf(NOON - 300 * DAY)], NOON)).toHaveLength(30);
  expect(daysBetween([], NOON)).toEqual([]);
});

test('what was set aside is not spent, and what was refunded is taken off', () => {
  const booking = (kind: 'RESERVE' | 'CHARGE' | 'RELEASE' | 'REFUND', micros: number) => ({
    kind,
    at: new Date(NOON).toISOString(),
    amount: { micros, currency: 'USD' },
  });
  const days = spending([booking('RESERVE', 90), booking('CHARGE', 70), booking('RELEASE', 20), booking('REFUND', 30)], NOON);
  expect(days.at(-1)).toEqual({ day: dayOf(NOON), micros: 40 });
});

test('scales end at round numbers', () => {
  expect([0, 0.03, 7, 12, 49, 51, 100, 101_000].map(niceTop)).toEqual([1, 0.05, 10, 20, 50, 100, 100, 200_000]);
});
