/**
 * Amounts as people type them, and shares of a budget.
 *
 * Invariants
 * - What is typed becomes millionths of the currency exactly, digit by digit; what is no amount becomes nothing at all.
 */

export interface Amount {
  micros: number;
  currency: string;
}

const MICROS = 1_000_000;
const TYPED = /^(\d{1,9})(?:[.,](\d{1,6}))?$/;

/** The amount that was typed; null for an empty field, undefined for what is none. */
export function amountOf(text: string, currency: string): Amount | null | undefined {
  const typed = text.replace(/[\s\u00a0\u202f]/g, '');
  if (typed === '') return null;
  const match = TYPED.exec(typed);
  if (!match) return undefined;
  const [, whole = '0', part = ''] = match;
  return { micros: Number(whole) * MICROS + Number(part.padEnd(6, '0')), currency };
}

/** An amount as it would be typed. */
export function typedAs(micros: number | string): string {
  const value = Number(micros);
  const part = String(value % MICROS).padStart(6, '0').replace(/0+$/, '');
  return `${Math.trunc(value / MICROS)}${part && `.${part}`}`;
}

export interface Shares {
  /** From 0 to 1, of the limit or of everything that is spent and set aside. */
  spent: number;
  reserved: number;
  /** Whether nothing is left. */
  isFull: boolean;
  left: number | null;
}

/** How much of a budget is used. */
export function sharesOf(budget: {
  limit: { micros: number | string } | null;
  spent: { micros: number | string };
  reserved: { micros: number | string };
}): Shares {
  const [spent, reserved] = [Number(budget.spent.micros), Number(budget.reserved.micros)];
  const limit = budget.limit === null ? null : Number(budget.limit.micros);
  const whole = Math.max(limit ?? 0, spent + reserved);
  const left = limit === null ? null : Math.max(0, limit - spent - reserved);
  return {
    spent: whole === 0 ? 0 : spent / whole,
    reserved: whole === 0 ? 0 : reserved / whole,
    isFull: left === 0 && whole > 0,
    left,
  };
}
