/**
 * The words that the studio shows, in the language of the person.
 *
 * Invariants
 * - English has every word; the types of the other languages make a missing or a superfluous one an error of the build.
 */
import { en } from './en';
import { ru } from './ru';
import { zh } from './zh';

export const LANGUAGES = ['en', 'ru', 'zh'] as const;
export type Language = (typeof LANGUAGES)[number];
export type Word = keyof typeof en;
export type Say = (word: Word, values?: Record<string, string | number>) => string;

/** All words, for the tests. */
export const words: Record<Language, Record<Word, string>> = { en, ru, zh };

/** How languages call themselves. */
export const languageNames: Record<Language, string> = { en: 'English', ru: 'Русский', zh: '中文' };

/** The word in a language, with values in the places that it names. */
export function say(word: Word, language: Language, values: Record<string, string | number> = {}): string {
  return words[language][word].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** Whether there is such a word: for names that come from the server, such as those of tools. */
export function isWord(name: string): name is Word {
  return Object.hasOwn(en, name);
}

/** Whether the studio speaks this language. */
export function isLanguage(tag: string): tag is Language {
  return (LANGUAGES as readonly string[]).includes(tag);
}

const KEY = 'atelier.language';

/** The language that was chosen here, or the browser's, or English. */
export function preferredLanguage(): Language {
  const wanted = [localStorage.getItem(KEY) ?? '', ...navigator.languages];
  for (const tag of wanted) {
    const found = LANGUAGES.find((language) => tag.toLowerCase().split('-')[0] === language);
    if (found) return found;
  }
  return 'en';
}

/** Remembers the language for the next visit. */
export function rememberLanguage(language: Language): void {
  localStorage.setItem(KEY, language);
}
