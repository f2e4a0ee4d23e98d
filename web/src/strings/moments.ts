/** Moments, amounts and numbers as people of a language write them. */
import type { Language } from './index';

/** The person's own kind of a language, such as British English, where the browser says so. */
function localeOf(language: Language): string {
  return navigator.languages.find((tag) => tag.toLowerCase().split('-')[0] === language) ?? language;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

/** A moment, as short as it can be told apart: the hour today, the day before that. */
export function moment(at: string, language: Language, now = Date.now()): string {
  const time = new Date(at);
  const age = now - time.getTime();
  const options: Intl.DateTimeFormatOptions =
    age < DAY ? { hour: '2-digit', minute: '2-digit' } : { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' };
  return new Intl.DateTimeFormat(localeOf(language), options).format(time);
}

/** A day, with its year where that is another than this one. */
export function day(at: string, language: Language, now = new Date()): string {
  const time = new Date(at);
  const options: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short' };
  if (time.getFullYear() !== now.getFullYear()) options.year = 'numeric';
  return new Intl.DateTimeFormat(localeOf(language), options).format(time);
}

/** How long something took. */
export function duration(from: string, to: string, language: Language): string {
  const ms = Math.max(0, new Date(to).getTime() - new Date(from).getTime());
  const [value, unit] =
    ms < SECOND ? [ms, 'millisecond'] : ms < MINUTE ? [ms / SECOND, 'second'] : [ms / MINUTE, 'minute'];
  const options = { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 } as const;
  return new Intl.NumberFormat(localeOf(language), options).format(value as number);
}

export interface Money {
  micros: number | string;
  currency: string;
}

/** An amount with its currency; small ones keep their digits. */
export function money({ micros, currency }: Money, language: Language): string {
  const value = Number(micros) / 1_000_000;
  const digits = value !== 0 && Math.abs(value) < 0.1 ? 4 : 2;
  const options = { style: 'currency', currency, minimumFractionDigits: 2, maximumFractionDigits: digits } as const;
  return new Intl.NumberFormat(language, options).format(value);
}

/** A short number for axes: 1.2K. */
export function roughly(value: number, language: Language): string {
  return new Intl.NumberFormat(language, { notation: 'compact', maximumFractionDigits: 1 }).format(value);
}

/** A share of the whole. */
export function percent(share: number, language: Language): string {
  return new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 0 }).format(share);
}

/** A size of a file. */
export function bytes(value: number, language: Language): string {
  const [size, unit] = value < 1_000_000 ? [value / 1_000, 'kilobyte'] : value < 1e9 ? [value / 1e6, 'megabyte'] : [value / 1e9, 'gigabyte'];
  return new Intl.NumberFormat(language, { style: 'unit', unit: unit as string, maximumFractionDigits: 1 }).format(size as number);
}

export function number(value: number, language: Language): string {
  return new Intl.NumberFormat(language).format(value);
}
