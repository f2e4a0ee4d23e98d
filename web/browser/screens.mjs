/**
 * Pictures of every page, to be looked at: `node browser/screens.mjs URL TOKEN CHROMIUM FOLDER [WORD…]`; with words only
 * those whose names hold all of them (`dark`, `phone`, `ru`, `task`).
 *
 * Invariants
 * - What is on them was made through the studio and the agent, nothing is drawn for the picture.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { goTo, launch, Site, until } from './harness.mjs';

const [base, token, executablePath, folder, ...words] = process.argv.slice(2);

const GOALS = {
  en: ['Make a storyboard of six shots about a fox in a night city', 'make shot 2 darker', 'What can you do?'],
  ru: ['Сделай раскадровку из шести кадров про лису в ночном городе', 'сделай кадр 2 темнее', 'Что ты умеешь?'],
  zh: ['做一个六个镜头的故事板，讲夜晚城市里的狐狸', '把镜头2调暗', '你能做什么？'],
};
const SIZES = { wide: { width: 1360, height: 860 }, phone: { width: 390, height: 844 } };

/** A workspace with something of everything in it, in a language. */
async function furnish(site, language) {
  const names = { en: 'The night city', ru: 'Ночной город', zh: '夜晚的城市' };
  const workspaceId = await site.makeWorkspace(names[language]);
  const text = '# The keeper\n\nA **lighthouse** on black rocks; the sea is calm.\n\n- dusk\n- dawn\n\n> Two short, one long.';
  const treatment = await site.makeWork(workspaceId, 'TEXT', { en: 'Treatment', ru: 'Тритмент', zh: '大纲' }[language], { text });
  const nodes = ['Script', 'Moods', 'Prompt', 'Poster'].map((title, index) => ({
    id: title,
    type: ['text', 'collection', 'prompt', 'image'][index],
    fields: { title, description: 'What goes into the next one', position: { x: Math.max(0, index - 1) * 300, y: index === 0 ? -80 : index === 1 ? 80 : 0 } },
  }));
  const edges = [['Script', 'Prompt'], ['Moods', 'Prompt'], ['Prompt', 'Poster']].map(([source, target]) => ({ source, target }));
  const flow = await site.makeWork(workspaceId, 'FLOW', { en: 'From script to poster', ru: 'От сценария к плакату', zh: '从剧本到海报' }[language], { nodes, edges });
  const items = ['Salt and rust', 'Lamp light', 'Dusk'].map((title) => ({ fields: { title, notes: 'Warm, narrow, always turning.' } }));
  const collection = await site.makeWork(workspaceId, 'COLLECTION', { en: 'Moods', ru: 'Настроения', zh: '氛围' }[language], { nodes: items });
  const post = 'mutation M($input: PostMessageInput!) { postMessage(input: $input) { message { id } } }';
  const [goal, , question] = GOALS[language];
  for (const text of [question, goal]) await site.api(post, { input: { workspaceId, text } });
  const read = 'query Q($id: ID!) { workspace(id: $id) { openCards { task { id works { work { id } } } } } }';
  let task = null;
  await until(async () => {
    task = (await site.api(read, { id: workspaceId })).workspace.openCards.find((card) => card.task)?.task ?? null;
    return task !== null;
  }, true);
  return { workspaceId, taskId: task.id, board: task.works[0].work.id, treatment, flow, collection };
}

async function main() {
  mkdirSync(folder, { recursive: true });
  const browser = await launch(executablePath);
  const site = new Site(base, token);
  const empty = await site.makeWorkspace('Empty');
  for (const language of Object.keys(GOALS)) {
    const rooms = await furnish(site, language);
    const { workspaceId, taskId, board, treatment, flow, collection } = rooms;
    const places = {
      empty: [empty, ''],
      talk: [workspaceId, ''],
      tasks: [workspaceId, 'tasks'],
      works: [workspaceId, 'works'],
      people: [workspaceId, 'people'],
      task: [workspaceId, taskId, '[data-tab=talk]'],
      steps: [workspaceId, taskId, '[data-tab=steps]'],
      journal: [workspaceId, taskId, '[data-tab=journal]'],
      beside: [workspaceId, `${taskId}/${board}`, '[data-tab=talk]'],
      board: [workspaceId, board],
      history: [workspaceId, board, ['.work-head button[aria-expanded]:nth-of-type(2)', '.revision > button']],
      text: [workspaceId, treatment],
      flow: [workspaceId, flow],
      collection: [workspaceId, collection],
    };
    for (const colorScheme of ['light', 'dark']) {
      for (const [size, viewport] of Object.entries(SIZES)) {
        const wanted = Object.entries(places).filter(([name]) => words.every((word) => [name, language, colorScheme, size].includes(word)));
        if (wanted.length === 0) continue;
        const locale = { en: 'en-GB', ru: 'ru-RU', zh: 'zh-CN' }[language];
        const page = await site.open(browser, '/', { locale, colorScheme, viewport, reducedMotion: 'reduce' });
        await page.getByRole('main').waitFor();
        for (const [name, [room, place, click]] of wanted) {
          await goTo(page, room, place);
          await page.getByRole('main').getByRole('heading', { level: 1 }).first().waitFor();
          if (place.includes('work_')) await page.locator('.state.connected').waitFor();
          await page.locator('main .loading').waitFor({ state: 'detached' });
          for (const each of [click ?? []].flat()) await page.locator(each).first().click();
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
