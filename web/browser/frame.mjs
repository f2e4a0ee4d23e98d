/** Checks of the frame: signing in, languages, themes, what is loaded, what assistive technology finds, GraphiQL. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { faults, goTo, until } from './harness.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** What the first load may weigh as scripts, compressed. */
const FIRST_LOAD_BYTES = 300_000;

/** The pages beside the lists of tasks and works. */
const ROOM_PAGES = ['memory', 'people', 'budget', 'jobs', 'usage', 'abilities', 'guides'];

/** What axe finds on a page as it stands, and thinks serious. */
async function seriousFaults(page) {
  await page.locator('main .loading').waitFor({ state: 'detached' });
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}

export const checks = [
  {
    name: 'without a token the studio asks for one, and says when one is refused',
    async run({ browser, site }) {
      const page = await site.open(browser, '/', { bearer: null });
      await page.getByLabel('Token').fill('no-such-token');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').waitFor();
      // The browser itself reports the refusal, as it should.
      faults.length = 0;
    },
  },
  {
    name: 'the printed link signs in, the token leaves the address, and signing out forgets it',
    async run({ browser, site }) {
      const page = await site.open(browser);
      await page.getByRole('navigation').waitFor();
      assert.ok(!page.url().includes(site.token), page.url());
      await page.getByRole('button', { name: '▾' }).click();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('Token').waitFor();
      await page.reload();
      await page.getByLabel('Token').waitFor();
    },
  },
  {
    name: 'the first load is small, and editors come only when they are opened',
    async run({ browser, site, workspaceId }) {
      const page = await site.openAt(browser, workspaceId);
      await page.getByLabel('Say what you want to make, or ask something').waitFor();
      const loaded = () =>
        page.evaluate(() =>
          performance
            .getEntriesByType('resource')
            .filter(({ name }) => name.endsWith('.js'))
            .map(({ name, encodedBodySize }) => ({ name, encodedBodySize })),
        );
      const first = await loaded();
      const bytes = first.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
      assert.ok(bytes > 0 && bytes < FIRST_LOAD_BYTES, `${bytes} bytes of script`);
      console.log(`        ${bytes} bytes of script at the first load`);
      await goTo(page, workspaceId, await site.makeWork(workspaceId, 'FLOW', 'Weighed'));
      await page.locator('.react-flow').waitFor();
      assert.ok((await loaded()).length > first.length);
    },
  },
  {
    name: 'the studio speaks three languages, and remembers which',
    async run({ browser, site }) {
      const page = await site.open(browser);
      await page.getByRole('button', { name: '▾' }).click();
      for (const [language, words] of [['ru', 'Выйти'], ['zh', '退出'], ['en', 'Sign out'], ['ru', 'Выйти']]) {
        await page.locator('.settings select').first().selectOption(language);
        await page.getByRole('button', { name: words }).waitFor();
      }
      await page.reload();
      await page.getByRole('link', { name: 'Разговор' }).waitFor();
      assert.equal(await page.evaluate(() => document.documentElement.lang), 'ru');
    },
  },
  {
    name: 'light and dark are chosen by the person, and else follow the system',
    async run({ browser, site }) {
      const page = await site.open(browser, '/', { colorScheme: 'dark' });
      const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      await page.getByRole('button', { name: '▾' }).click();
      const dark = await ground();
      await page.locator('.settings select').last().selectOption('light');
      assert.notEqual(await ground(), dark);
      await page.locator('.settings select').last().selectOption('dark');
      assert.equal(await ground(), dark);
    },
  },
  {
    name: 'a message is written and sent by keyboard alone',
    async run({ browser, site, workspaceId }) {
      const page = await site.openAt(browser, workspaceId);
      const box = page.getByLabel('Say what you want to make, or ask something');
      await box.waitFor();
      await page.keyboard.press('Tab');
      await until(() => page.evaluate(() => document.activeElement.textContent), 'Skip to the content');
      await page.keyboard.press('Enter');
      for (let stops = 0; stops < 30; stops += 1) {
        if (await box.evaluate((element) => element === document.activeElement)) break;
        await page.keyboard.press('Tab');
      }
      await page.keyboard.type('What can you do?');
      await page.keyboard.press('Enter');
      await page.getByRole('list', { name: 'Messages' }).getByText('What can you do?').waitFor();
      await until(() => page.locator('.message.agent').count(), (count) => count >= 1);
    },
  },
  {
    name: 'axe finds no serious fault on any page, in the light and in the dark',
    async run({ browser, site, workspaceId }) {
      const taskId = await site.makeTask(workspaceId, 'Make a storyboard of three shots about a lamp');
      const works = {};
      for (const kind of ['STORYBOARD', 'FLOW', 'TEXT', 'COLLECTION']) {
        const nodes = [{ fields: { title: 'One', position: { x: 0, y: 0 } } }];
        const content = kind === 'TEXT' ? { text: '# Words' } : { nodes };
        works[kind] = await site.makeWork(workspaceId, kind, `For axe: ${kind}`, content);
      }
      for (const colorScheme of ['light', 'dark']) {
        const page = await site.openAt(browser, workspaceId, '', { colorScheme, reducedMotion: 'reduce' });
        for (const place of ['', 'tasks', 'works', ...ROOM_PAGES, taskId, ...Object.values(works), `${taskId}/${works.STORYBOARD}`]) {
          await goTo(page, workspaceId, place);
          await page.getByRole('main').getByRole('heading', { level: 1 }).first().waitFor();
          if (place.includes('work_')) await page.getByText('Connected', { exact: true }).waitFor();
          assert.deepEqual(await seriousFaults(page), [], `${colorScheme} ${place}`);
        }
      }
    },
  },
  {
    name: 'axe finds no serious fault in dialogs and in what opens on a page',
    async run({ browser, site }) {
      const workspaceId = await site.makeWorkspace('Dialogs');
      const taskId = await site.makeTask(workspaceId, 'Make a storyboard of three shots about a kettle');
      await site.openCard(taskId, ['CHECKPOINT']);
      const board = await site.makeWork(workspaceId, 'STORYBOARD', 'Dialogs', { nodes: [{ fields: { title: 'One' } }] });
      await site.remember(workspaceId, 'The kettle is red');
      const openings = [
        ['memory', (page) => page.getByRole('button', { name: 'Forget…' }).click()],
        ['memory', (page) => page.getByRole('button', { name: 'Correct' }).click()],
        ['memory', (page) => page.getByRole('tab', { name: 'Always known' }).click()],
        ['memory', (page) => page.getByRole('tab', { name: 'Not taken' }).click()],
        ['', (page) => page.getByRole('button', { name: 'Attach a work' }).click()],
        [taskId, (page) => page.getByRole('button', { name: 'Merge…' }).click()],
        [taskId, (page) => page.getByRole('button', { name: 'Set a limit' }).click()],
        [taskId, (page) => page.getByRole('tab', { name: 'Journal' }).click().then(() => page.getByRole('button', { name: 'Why?' }).first().click())],
        [board, (page) => page.getByRole('button', { name: 'History' }).click()],
        [board, (page) => page.getByRole('button', { name: 'Choose a picture' }).click()],
        ['usage', (page) => page.getByRole('button', { name: 'As a table' }).first().click()],
      ];
      for (const colorScheme of ['light', 'dark']) {
        const page = await site.openAt(browser, workspaceId, '', { colorScheme, reducedMotion: 'reduce' });
        for (const [index, [place, open]] of openings.entries()) {
          await goTo(page, workspaceId, 'tasks');
          await page.getByRole('heading', { name: 'Tasks' }).waitFor();
          await goTo(page, workspaceId, place);
          await page.getByRole('main').getByRole('heading', { level: 1 }).first().waitFor();
          await open(page);
          assert.deepEqual(await seriousFaults(page), [], `${colorScheme} ${index} ${place}`);
          await page.keyboard.press('Escape');
        }
        await page.context().close();
      }
    },
  },
  {
    name: 'on a phone the menu opens, leads on, and nothing is wider than the screen',
    async run({ browser, site, workspaceId }) {
      const board = await site.makeWork(workspaceId, 'STORYBOARD', 'A rather long title of a storyboard for a narrow screen', {
        nodes: [{ fields: { title: 'One' } }],
      });
      const page = await site.openAt(browser, workspaceId, '', { viewport: { width: 390, height: 844 }, hasTouch: true });
      await page.getByRole('button', { name: 'Menu' }).click();
      await page.getByRole('link', { name: 'Tasks' }).click();
      await page.getByRole('heading', { name: 'Tasks' }).waitFor();
      const goal = 'Make a storyboard of three shots about a lighthouse with an uncommonly long and winding name';
      const taskId = await site.makeTask(workspaceId, goal);
      await site.remember(workspaceId, 'On narrow screens nothing may be wider than the screen, however longandwinding a word is');
      const flow = await site.makeWork(workspaceId, 'FLOW', 'Narrow', { nodes: [{ id: 'a', type: 'image', fields: { title: 'A' } }] });
      for (const place of ['', 'tasks', 'works', ...ROOM_PAGES, board, flow, taskId]) {
        await goTo(page, workspaceId, place);
        await page.getByRole('main').getByRole('heading', { level: 1 }).first().waitFor();
        if (place === taskId) await page.getByRole('region', { name: 'Please look' }).waitFor();
        if (place === taskId) await page.getByRole('tab', { name: 'Steps' }).click();
        // Tables and rows of tabs may be scrolled sideways by themselves.
        const wide = await page.evaluate(() =>
          [...document.querySelectorAll('main *:not(.wide *, [role=tablist] *, .room-pages *, .flow *, .hidden)')]
            .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
            .map(({ outerHTML }) => outerHTML.slice(0, 120)),
        );
        assert.deepEqual(wide, [], place);
      }
    },
  },
  {
    name: 'GraphiQL works offline, with the token of the link',
    async run({ browser, site }) {
      const page = await site.open(browser, '/graphiql/');
      // The button is there before the editor has its first query, and runs nothing until then.
      await page.locator('.view-line').getByText('viewer', { exact: false }).first().waitFor();
      await page.getByRole('button', { name: /Execute query/ }).click();
      await page.locator('.result-window').getByText('"viewer"').waitFor();
      assert.ok(!page.url().includes(site.token), page.url());
    },
  },
];
