/** The words of the studio: none missing, none left in another language by mistake. */
import { expect, test } from 'vitest';

import { words } from '../src/strings';

test('every word is there in three languages, in the right script', () => {
  for (const [name, { en, ru, zh }] of Object.entries(words)) {
    expect(en, name).toMatch(/^[\x20-\x7e…]+$/);
    expect(ru, name).toMatch(/[а-яё]/i);
    expect(zh, name).toMatch(/\p{Script=Han}/u);
  }
});
