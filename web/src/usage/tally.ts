/**
 * What steps and bookings add up to, day by day.
 *
 * Invariants
 * - A step is counted once, however often it is read; days are those of the person's own clock.
 * - Days on which nothing happened stand in between, so that a chart's time is even.
 */

export const LAYERS = ['stablePrefix', 'summaries', 'recent', 'dynamicTail'] as const;
export type Layer = (typeof LAYERS)[number];

export interface StepUsage {
  decidedAt: string;
  context: Record<Layer, number> & { model: string; inputTokens: number; cachedTokens: number; outputTokens: number };
}

export interface DayUsage {
  /** YYYY-MM-DD */
  day: string;
  layers: Record<Layer, number>;
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
  steps: number;
}

export interface Booking {
  kind: 'RESERVE' | 'CHARGE' | 'RELEASE' | 'REFUND';
  at: string;
  amount: { micros: number | string; currency: string };
}

const DAY_MS = 24 * 60 * 60 * 1_000;
/** As many days as a chart shows. */
export const MOST_DAYS = 30;

export function dayOf(at: string | number): string {
  const time = new Date(at);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

/** Steps of all tasks by day, the oldest first. */
export function tally(steps: Iterable<StepUsage>, now = Date.now()): DayUsage[] {
  const days = new Map<string, DayUsage>();
  for (const { decidedAt, context } of steps) {
    const name = dayOf(decidedAt);
    const day = days.get(name) ?? emptyDay(name);
    for (const layer of LAYERS) day.layers[layer] += context[layer];
    day.inputTokens += context.inputTokens;
    day.cachedTokens += context.cachedTokens;
    day.outputTokens += context.outputTokens;
    day.steps += 1;
    days.set(name, day);
  }
  return daysBetween([...days.keys()], now).map((name) => days.get(name) ?? emptyDay(name));
}

/** What was spent on each day less what was given back, in millionths. */
export function spending(bookings: readonly Booking[], now = Date.now()): { day: string; micros: number }[] {
  const days = new Map<string, number>();
  for (const { kind, at, amount } of bookings) {
    const sign = kind === 'CHARGE' ? 1 : kind === 'REFUND' ? -1 : 0;
    if (sign !== 0) days.set(dayOf(at), (days.get(dayOf(at)) ?? 0) + sign * Number(amount.micros));
  }
  return daysBetween([...days.keys()], now).map((day) => ({ day, micros: days.get(day) ?? 0 }));
}

/** All days from the first of these to today, the newest so many of them; at least a week, so that a bar is no wall. */
export function daysBetween(names: readonly string[], now: number): string[] {
  if (names.length === 0) return [];
  const today = new Date(now);
  today.setHours(12, 0, 0, 0);
  const first = names.reduce((one, other) => (one < other ? one : other));
  const days: string[] = [];
  for (let at = today.getTime(); days.length < MOST_DAYS; at -= DAY_MS) {
    const name = dayOf(at);
    if (name < first && days.length >= 7) break;
    days.unshift(name);
  }
  return days;
}

function emptyDay(day: string): DayUsage {
  const layers = { stablePrefix: 0, summaries: 0, recent: 0, dynamicTail: 0 };
  return { day, layers, inputTokens: 0, cachedTokens: 0, outputTokens: 0, steps: 0 };
}
