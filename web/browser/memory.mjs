/** Checks of memory: what is said is remembered with its sentence, corrected, given another reach, forgotten, taken along. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

import { goTo, until } from './harness.mjs';

const card = (page, words) => page.getByRole('article', { name: words });
const known = (page) => page.getByRole('list', { name: 'Remembered' }).locator('.memory-words').allInnerTexts();

export const checks = [
  {
    name: 'what is remembered is shown with whom it is about, since when, and the sentence it came from',
    async run({ browser, site }) {
      const workspaceId = await site.makeWorkspace('Remembered');
      const page = await site.openAt(browser, workspaceId, 'memory');
      await page.getByText('Nothing is remembered yet.', { exact: false }).waitFor();
      await page.getByRole('textbox', { name: 'Something to remember' }).fill('Our brand is green');
      await page.getByRole('form', { name: 'Something to remember' }).getByLabel('For whom').selectOption('WORKSPACE');
      await page.getByRole('button', { name: 'Remember', exact: true }).click();
      const memory = card(page, 'Our brand is green');
      await memory.locator('.tag.scope').getByText('The whole workspace').waitFor();
      await memory.locator('time').first().waitFor();
      await memory.getByRole('list', { name: 'Where it came from' }).getByText('Our brand is green').waitFor();
      await memory.getByRole('link', { name: 'Conversation' }).waitFor();
      // What one person wrote for the room, another sees; what is a person's own, nobody else does.
      await site.remember(workspaceId, 'I like short answers');
      const bearer = await site.makeMember(workspaceId, 'Edna', 'EDITOR');
      const other = await site.openAt(browser, workspaceId, 'memory', { bearer });
      await until(() => known(other), (seen) => seen.length === 1 && seen[0] === 'Our brand is green');
    },
  },
  {
    name: 'a memory is corrected, the correction is taken back, and it gets another reach, all by keyboard',
    async run({ browser, site }) {
      const workspaceId = await site.makeWorkspace('Corrected');
      await site.remember(workspaceId, 'The fox has a torn left ear');
      const page = await site.openAt(browser, workspaceId, 'memory');
      await card(page, 'The fox has a torn left ear').getByRole('button', { name: 'Correct' }).focus();
      await page.keyboard.press('Enter');
      await page.keyboard.press('Control+a');
      await page.keyboard.type('The fox has a torn right ear');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      const corrected = card(page, 'The fox has a torn right ear');
      await corrected.getByText('Held before: 1').waitFor();
      await corrected.getByRole('button', { name: 'Undo the change' }).focus();
      await page.keyboard.press('Enter');
      const undone = card(page, 'The fox has a torn left ear');
      await undone.getByText('Held before: 2').waitFor();
      const reach = undone.getByLabel('For whom');
      await reach.focus();
      await page.keyboard.press('ArrowDown');
      await undone.locator('.tag.scope').getByText('The whole workspace').waitFor();
    },
  },
  {
    name: 'before a memory is forgotten one sees what goes, and afterwards it is found nowhere',
    async run({ browser, site }) {
      const workspaceId = await site.makeWorkspace('Forgotten');
      const id = await site.remember(workspaceId, 'The keeper is called Marta');
      const correct = 'mutation M($input: CorrectMemoryInput!) { correctMemory(input: $input) { memory { id } } }';
      await site.api(correct, { input: { memoryId: id, content: 'The keeper is called Greta' } });
      await site.remember(workspaceId, 'The lamp turns to the left');
      const page = await site.openAt(browser, workspaceId, 'memory');
      await card(page, 'The keeper is called Greta').getByRole('button', { name: 'Forget…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Forget this?' });
      await until(() => dialog.locator('del').allInnerTexts(), (seen) => seen.join('|') === 'The keeper is called Greta|The keeper is called Marta');
      assert.equal(await dialog.getByText('The lamp turns').count(), 0);
      // Escape keeps it.
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await card(page, 'The keeper is called Greta').getByRole('button', { name: 'Forget…' }).click();
      await dialog.getByRole('button', { name: 'Forget for good' }).click();
      const over = page.getByRole('dialog', { name: 'Forgotten' });
      await over.getByText('Lost their words: 1.').waitFor();
      await over.getByRole('button', { name: 'Close' }).last().click();
      await until(() => known(page), (seen) => seen.join('|') === 'The lamp turns to the left');
      await page.getByLabel('Find in memory').fill('keeper Greta');
      await until(() => page.getByText('Greta').count(), 0);
      await page.getByLabel('Find in memory').fill('');
      await page.getByLabel('State').selectOption('FORGOTTEN');
      await page.getByText('The words are gone.').first().waitFor();
    },
  },
  {
    name: 'what is remembered can be taken along as a file, is read on beyond one page, and a search leads to it',
    async run({ browser, site }) {
      const workspaceId = await site.makeWorkspace('Taken along');
      for (let at = 1; at <= 45; at += 1) await site.remember(workspaceId, `The number of the lamp room's step ${at} is ${at * 7}`);
      const page = await site.openAt(browser, workspaceId, 'memory');
      await until(() => page.locator('.memory').count(), 20);
      for (const count of [40, 45]) {
        await page.getByRole('button', { name: 'Show more' }).click();
        await until(() => page.locator('.memory').count(), count);
      }
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export' }).click()]);
      assert.match(download.suggestedFilename(), /^memory-\d{4}-\d\d-\d\d\.json$/);
      const { memories, workspace } = JSON.parse(await readFile(await download.path(), 'utf8'));
      assert.equal(memories.length, 45);
      assert.equal(workspace.name, 'Taken along');
      assert.match(memories[0].versions[0].evidence[0].text, /lamp room/);
      await goTo(page, workspaceId, 'tasks');
      await page.keyboard.press('Control+k');
      await page.keyboard.type('lamp room step 12 is 84');
      // The message that says it is found as well; the arrow keys go on to the memory.
      const found = page.locator('.results button').filter({ hasText: 'Memory' }).first();
      await found.waitFor();
      await until(async () => {
        await page.keyboard.press('ArrowDown');
        return found.evaluate((element) => element === document.activeElement);
      }, true);
      await page.keyboard.press('Enter');
      await page.getByRole('region', { name: 'What you were looking for' }).locator('.memory-words').waitFor();
    },
  },
  {
    name: 'a viewer reads what is remembered for all and can change nothing of it',
    async run({ browser, site }) {
      const workspaceId = await site.makeWorkspace('To read');
      await site.remember(workspaceId, 'Posters have wide margins', { scope: 'WORKSPACE' });
      const bearer = await site.makeMember(workspaceId, 'Vera', 'VIEWER');
      const page = await site.openAt(browser, workspaceId, 'memory', { bearer });
      await card(page, 'Posters have wide margins').waitFor();
      for (const name of ['Correct', 'Forget…', 'Remember']) assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0);
    },
  },
];
