/** Checks of the workspace's own pages: money, orders, usage, what can be made, guides; and of cards about money and pictures. */
import assert from 'node:assert/strict';

import { goTo, until } from './harness.mjs';
import { withServer } from './restart.mjs';

const CENT = 10_000;
/** The renderer that is built in, as if it cost something and took a while. */
const DEAR = ['--local-prices', 'image=40000', '--local-delay', '1s'];
const fact = (page, name) => page.locator('.meter-facts div').filter({ hasText: name }).locator('dd');

export const checks = [
  {
    name: 'an order that costs too much is asked about with its price, made once it is paid, looked at, and booked',
    run: ({ browser, line }) =>
      withServer({ browser, line: [...line, ...DEAR] }, async (_server, site) => {
        const workspaceId = await site.makeWorkspace('Dear');
        await site.setBudget(workspaceId, { limit: 100 * CENT, perOperationLimit: CENT });
        const page = await site.openAt(browser, workspaceId, 'tasks');
        await page.getByLabel('Goal of a new task').fill('Make a short film of two shots about a lighthouse keeper');
        await page.getByRole('button', { name: 'Start the task' }).click();
        const draft = page.getByRole('region', { name: 'Please look' });
        await draft.getByRole('button', { name: 'Confirm and continue' }).click();
        const cost = page.getByRole('region', { name: 'May this be paid?' });
        await cost.locator('.cost').getByText('$0.04').waitFor();
        await cost.locator('.card-cost').getByText('$0.96').waitFor();
        await page.getByRole('region', { name: 'Orders' }).getByText('Waits for your word').waitFor();
        await cost.getByRole('button', { name: /Yes, order it/ }).click();
        // The picture itself is on the card, and opens over the page by keyboard.
        const look = page.getByRole('region', { name: 'Please look' });
        const picture = look.locator('.picture-button');
        await picture.waitFor();
        await until(() => picture.locator('img').evaluate(({ naturalWidth }) => naturalWidth > 0), true);
        await picture.focus();
        await page.keyboard.press('Enter');
        const large = page.getByRole('dialog').locator('.full-picture');
        await until(() => large.evaluate(({ naturalWidth }) => naturalWidth >= 512), true);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        await until(() => fact(page.getByRole('region', { name: 'Cost' }), 'Spent').innerText(), '$0.04');
        // A limit of the task's own, set in its panel.
        await page.getByRole('button', { name: 'Set a limit' }).click();
        await page.getByLabel('What this task may spend').fill('abc');
        await page.getByText('This is no amount.', { exact: false }).waitFor();
        await page.getByLabel('What this task may spend').fill('0,5');
        await page.getByRole('region', { name: 'Cost' }).getByRole('button', { name: 'Save' }).click();
        await until(() => fact(page.getByRole('region', { name: 'Cost' }), 'Limit').innerText(), '$0.50');
        await goTo(page, workspaceId, 'budget');
        await until(() => fact(page, 'Left').innerText(), '$0.96');
        await until(() => page.locator('.booking').allInnerTexts(), (seen) => seen.join(' ') === 'Spent Set aside');
        await goTo(page, workspaceId, 'jobs');
        await page.getByRole('article', { name: /Picture/ }).getByText('Made', { exact: true }).waitFor();
        await goTo(page, workspaceId, 'usage');
        await page.getByRole('region', { name: 'Spend by day' }).getByRole('button', { name: 'As a table' }).click();
        await page.getByRole('region', { name: 'Spend by day' }).getByRole('cell', { name: '$0.04' }).waitFor();
        await page.getByRole('region', { name: 'Tokens of requests, by layer' }).getByRole('button', { name: 'As a table' }).click();
        await page.getByRole('columnheader', { name: 'Rules and tools' }).waitFor();
      }),
  },
  {
    name: 'an order that is under way is given up, and shows that nothing came of it',
    run: ({ browser, line }) =>
      withServer({ browser, line: [...line, '--local-delay', '10m'] }, async (_server, site) => {
        const workspaceId = await site.makeWorkspace('Given up');
        await site.makeTask(workspaceId, 'Make a short film of two shots about a ferry', { autonomy: 'RUN_UNTIL_DONE' });
        const page = await site.openAt(browser, workspaceId, 'jobs');
        const order = page.getByRole('article', { name: /Picture/ }).first();
        await order.getByText('Being made').waitFor();
        await order.getByRole('progressbar').waitFor();
        await order.getByRole('button', { name: 'Give up' }).click();
        await page.getByRole('button', { name: /Came to nothing/ }).click();
        await page.getByRole('article', { name: /Picture/ }).getByText('Given up').first().waitFor();
      }),
  },
  {
    name: 'owners set what may be spent, by keyboard, and others read it',
    async run({ browser, site }) {
      const workspaceId = await site.makeWorkspace('Limits');
      const page = await site.openAt(browser, workspaceId, 'budget');
      await page.getByText('Nothing was booked yet.').waitFor();
      await page.getByLabel('In all').focus();
      await page.keyboard.type('12.5');
      await page.keyboard.press('Enter');
      await until(() => fact(page, 'Limit').innerText(), '$12.50');
      const bearer = await site.makeMember(workspaceId, 'Edgar', 'EDITOR');
      const other = await site.openAt(browser, workspaceId, 'budget', { bearer });
      await until(() => fact(other, 'Limit').innerText(), '$12.50');
      assert.equal(await other.getByRole('button', { name: 'Save' }).count(), 0);
      await page.getByLabel('In all').fill('');
      await page.keyboard.press('Enter');
      await until(() => fact(other, 'Left').innerText(), 'no limit');
    },
  },
  {
    name: 'what can be made is listed with its price, and guides are read in the language of the person',
    async run({ browser, site, workspaceId }) {
      const page = await site.openAt(browser, workspaceId, 'abilities', { locale: 'ru-RU' });
      await page.locator('.abilities article').first().waitFor();
      await until(() => page.locator('.abilities article').count(), (count) => count >= 4);
      await page.getByRole('link', { name: 'Руководства' }).click();
      await page.locator('.guide[lang=ru]').waitFor();
      const former = await page.locator('.guide').innerText();
      await page.locator('.guide-list button').nth(3).click();
      await until(() => page.locator('.guide').innerText(), (text) => text !== former);
      await page.getByLabel('Язык').first().selectOption('zh');
      await page.locator('.guide[lang=zh]').waitFor();
    },
  },
  {
    name: 'a list of more than a hundred works is read to its end',
    async run({ browser, site }) {
      const workspaceId = await site.makeWorkspace('Many');
      for (let at = 1; at <= 120; at += 1) await site.makeWork(workspaceId, 'TEXT', `Text ${at}`);
      const page = await site.openAt(browser, workspaceId, 'works');
      for (const count of [50, 100, 120]) {
        await until(() => page.locator('.work-grid li').count(), count);
        if (count < 120) await page.getByRole('button', { name: 'Show more' }).click();
      }
      await page.locator('.work-grid').getByText('Text 1', { exact: true }).waitFor();
      assert.equal(await page.getByRole('button', { name: 'Show more' }).count(), 0);
    },
  },
];
