/** The words of the studio: none missing, none left over, none left in another language, the same places in all. */
import { expect, test } from 'vitest';

import { en } from '../src/strings/en';
import { say, words, type Word } from '../src/strings';

const SCRIPTS = { en: /^[\x20-\x7e…→“”]+$/, ru: /[а-яё]/i, zh: /\p{Script=Han}/u };

test('every word is there in three languages, in the right script', () => {
  for (const [language, script] of Object.entries(SCRIPTS)) {
    const table = words[language as keyof typeof words];
    expect(Object.keys(table).sort(), language).toEqual(Object.keys(en).sort());
    for (const [name, word] of Object.entries(table)) expect(word, `${language} ${name}`).toMatch(script);
  }
});

test('a translation names the same values as the English word', () => {
  const places = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).sort();
  for (const name of Object.keys(en) as Word[]) {
    for (const table of [words.ru, words.zh]) expect(places(table[name]), name).toEqual(places(en[name]));
  }
});

test('values come into the places that name them, and what is no value stays', () => {
  expect(say('message_CONSUMED_at', 'en', { turn: 2, step: 7 })).toBe('Taken into work at step 7 of turn 2');
  expect(say('versions', 'ru', { from: 3 })).toBe('в3 → в{to}');
});
