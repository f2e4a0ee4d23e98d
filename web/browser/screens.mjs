/**
 * Pictures of every page, to be looked at: `node browser/screens.mjs URL TOKEN CHROMIUM FOLDER [WORD…]`; with words only
 * those whose names hold all of them (`dark`, `phone`, `ru`, `task`). The server is to ask for money: `--local-prices image=40000`.
 *
 * Invariants
 * - What is on them was made through the studio and the agent, nothing is drawn for the picture.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { furnish } from './furnish.mjs';
import { goTo, launch, Site } from './harness.mjs';

const [base, token, executablePath, folder, ...words] = process.argv.slice(2);

const LANGUAGES = ['en', 'ru', 'zh'];
const SIZES = { wide: { width: 1360, height: 860 }, phone: { width: 390, height: 844 } };

async function main() {
  mkdirSync(folder, { recursive: true });
  const browser = await launch(executablePath);
  const site = new Site(base, token);
  const empty = await site.makeWorkspace('Empty');
  for (const language of LANGUAGES) {
    if (LANGUAGES.some((each) => words.includes(each)) && !words.includes(language)) continue;
    const { workspaceId, taskId, board, treatment, flow, collection, model, looked, paid, filmBoard } = await furnish(site, language);
    const places = {
      empty: [empty, ''],
      talk: [workspaceId, ''],
      tasks: [workspaceId, 'tasks'],
      works: [workspaceId, 'works'],
      memory: [workspaceId, 'memory'],
      correct: [workspaceId, 'memory', '.memory-actions button'],
      forget: [workspaceId, 'memory', '.memory-actions .danger'],
      profile: [workspaceId, 'memory', '[data-tab=profile]'],
      'not-taken': [workspaceId, 'memory', '[data-tab=not-taken]'],
      people: [workspaceId, 'people'],
      budget: [workspaceId, 'budget'],
      jobs: [workspaceId, 'jobs'],
      usage: [workspaceId, 'usage'],
      abilities: [workspaceId, 'abilities'],
      guides: [workspaceId, 'guides'],
      'no-memory': [empty, 'memory'],
      'no-jobs': [empty, 'jobs'],
      'no-usage': [empty, 'usage'],
      checkpoint: [workspaceId, looked, '[data-tab=talk]'],
      cost: [workspaceId, paid, '[data-tab=talk]'],
      task: [workspaceId, taskId, '[data-tab=talk]'],
      steps: [workspaceId, taskId, '[data-tab=steps]'],
      journal: [workspaceId, taskId, '[data-tab=journal]'],
      beside: [workspaceId, `${taskId}/${board}`, '[data-tab=talk]'],
      board: [workspaceId, board],
      history: [workspaceId, board, ['.work-head button[aria-expanded]:nth-of-type(2)', '.revision > button']],
      text: [workspaceId, treatment],
      flow: [workspaceId, flow],
      node: [workspaceId, flow, '.react-flow__node[data-id=Poster]'],
      collection: [workspaceId, collection],
      film: [workspaceId, filmBoard],
      model: [workspaceId, model],
    };
    for (const colorScheme of ['light', 'dark']) {
      for (const [size, viewport] of Object.entries(SIZES)) {
        const wanted = Object.entries(places).filter(([name]) => words.every((word) => [name, language, colorScheme, size].includes(word)));
        if (wanted.length === 0) continue;
        const locale = { en: 'en-GB', ru: 'ru-RU', zh: 'zh-CN' }[language];
        const page = await site.open(browser, '/', { locale, colorScheme, viewport, reducedMotion: 'reduce' });
        await page.getByRole('main').waitFor();
        for (const [name, [room, place, click]] of wanted) {
          // What was opened over the page before goes with it.
          await page.keyboard.press('Escape');
          await goTo(page, room, place === 'tasks' ? '' : 'tasks');
          await page.getByRole('main').getByRole('heading', { level: 1 }).first().waitFor();
          await goTo(page, room, place);
          await page.getByRole('main').getByRole('heading', { level: 1 }).first().waitFor();
          if (place.includes('work_') && place !== model) await page.locator('.state.connected').waitFor();
          if (place === model) await page.locator('.model canvas, .model [role=alert]').first().waitFor();
          await page.locator('main .loading').waitFor({ state: 'detached' });
          // On a phone the work hides the task beside it.
          const clicks = size === 'phone' && name === 'beside' ? [] : [click ?? []].flat();
          for (const each of clicks) await page.locator(each).first().click();
          await page.locator('main .loading').waitFor({ state: 'detached' });
          await page.waitForLoadState('networkidle');
          await page.screenshot({ path: join(folder, `${name}-${language}-${colorScheme}-${size}.png`) });
        }
        await page.context().close();
      }
    }
  }
  await browser.close();
}

await main();
