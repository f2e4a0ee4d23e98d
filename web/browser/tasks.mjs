/** Checks of tasks: a goal is typed, the agent works in front of the viewer, and the person answers, steers and asks why. */
import assert from 'node:assert/strict';

import { goTo, until } from './harness.mjs';

const WRITE = 'Say what you want to make, or ask something';
const peek = (page, name) => page.getByRole('list', { name }).getByRole('listitem');

export const checks = [
  {
    name: 'a goal that is typed becomes a task, and its storyboard fills while one looks',
    async run({ browser, site }) {
      const workspaceId = await site.makeWorkspace('A goal');
      const page = await site.openAt(browser, workspaceId, 'tasks');
      await page.getByLabel('Goal of a new task').fill('Make a storyboard of twelve shots about a fox in a night city');
      // How many shots are seen, each time that changes.
      await page.evaluate(() => {
        globalThis.seen = [];
        const look = () => {
          const count = document.querySelectorAll('.peek-nodes b').length;
          if (globalThis.seen.at(-1) !== count) globalThis.seen.push(count);
        };
        new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
      });
      await page.getByRole('button', { name: 'Start the task' }).click();
      await until(() => peek(page, /fox/).count(), 12);
      const seen = await page.evaluate(() => globalThis.seen);
      assert.ok(seen.some((count) => count > 0 && count < 12), `the board was seen with ${seen} shots`);
      await page.getByRole('region', { name: 'Please look' }).waitFor();
    },
  },
  {
    name: 'a message in the conversation is received, taken into work at a step, and answered',
    async run({ browser, site }) {
      const workspaceId = await site.makeWorkspace('A conversation');
      const page = await site.openAt(browser, workspaceId);
      await page.getByLabel(WRITE).fill('Make a storyboard of three shots about a red kite');
      await page.keyboard.press('Enter');
      await page.getByText(/Taken into work at step 1 of turn 1/).waitFor();
      await until(() => page.locator('.message.agent').count(), (count) => count >= 2);
      assert.equal(await page.locator('.message.own').count(), 1);
      await page.locator('.task-link a').first().click();
      await until(() => peek(page, /kite/).count(), 3);
      await page.getByRole('tab', { name: 'Steps' }).click();
      await page.locator('.calls').getByText('Making a work').waitFor();
    },
  },
  {
    name: 'the agent is seen at work on the board that it fills',
    async run({ browser, site }) {
      const workspaceId = await site.makeWorkspace('At work');
      const taskId = await site.makeTask(workspaceId, 'Make a storyboard of three shots about a ferry');
      const page = await site.openAt(browser, workspaceId, taskId);
      await until(() => peek(page, /ferry/).count(), 3);
      await page.locator('.peek > a').click();
      await page.getByText('Connected', { exact: true }).waitFor();
      const card = page.getByRole('region', { name: 'Please look' });
      await card.getByLabel('Add a comment').fill('add a shot about rain after shot 2');
      await card.getByRole('button', { name: 'Answer with the comment' }).click();
      await until(() => page.getByRole('article').count(), 4);
      await page.locator('.presence').getByText('Agent').waitFor();
    },
  },
  {
    name: 'a card is answered with a click, and the task goes on to its end',
    async run({ browser, site }) {
      const workspaceId = await site.makeWorkspace('A card');
      const taskId = await site.makeTask(workspaceId, 'Make a storyboard of three shots about a bridge');
      const page = await site.openAt(browser, workspaceId);
      const card = page.getByRole('region', { name: 'Please look' });
      await card.getByRole('button', { name: 'Confirm and continue' }).click();
      await card.waitFor({ state: 'detached' });
      await goTo(page, workspaceId, taskId);
      await page.locator('.task-head .pill').getByText('Delivered').waitFor();
    },
  },
  {
    name: 'a card is answered with words, and the work changes as they say',
    async run({ browser, site }) {
      const workspaceId = await site.makeWorkspace('Words');
      const taskId = await site.makeTask(workspaceId, 'Make a storyboard of three shots about a harbour');
      const page = await site.openAt(browser, workspaceId, taskId);
      const card = page.getByRole('region', { name: 'Please look' });
      await card.getByLabel('Add a comment').fill('remove shot 3');
      await card.getByRole('button', { name: 'Answer with the comment' }).click();
      await until(() => peek(page, /harbour/).count(), 2);
    },
  },
  {
    name: 'a message that was not read yet is withdrawn or replaced, and one that was read stays',
    async run({ browser, site }) {
      const workspaceId = await site.makeWorkspace('Second thoughts');
      const taskId = await site.makeTask(workspaceId, 'Make a storyboard of three shots about a tram');
      const page = await site.openAt(browser, workspaceId, taskId);
      await page.getByRole('region', { name: 'Please look' }).waitFor();
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.locator('.task-head .pill').getByText('Paused').waitFor();
      const write = async (text) => {
        await page.getByLabel('Write to this task').fill(text);
        await page.keyboard.press('Enter');
      };
      const message = (text) => page.getByRole('list', { name: 'Messages' }).getByRole('listitem').filter({ hasText: text });
      await write('make shot 1 darker');
      await message('make shot 1 darker').getByText('Delivered, not read yet').waitFor();
      await message('make shot 1 darker').getByRole('button', { name: 'Withdraw' }).click();
      await message('make shot 1 darker').getByText('Withdrawn').waitFor();
      await write('remove shot 1');
      await message('remove shot 1').getByRole('button', { name: 'Replace' }).click();
      await page.getByRole('textbox', { name: 'Replace' }).fill('remove shot 2');
      await page.locator('.replacement').getByRole('button', { name: 'Replace' }).click();
      await message('remove shot 1').getByText('Replaced').waitFor();
      await page.getByRole('complementary', { name: 'About this task' }).getByText('Not read yet').waitFor();
      await page.getByRole('button', { name: 'Resume' }).click();
      await message('remove shot 2').getByText(/Taken into work/).waitFor();
      assert.equal(await message('remove shot 2').getByRole('button', { name: 'Withdraw' }).count(), 0);
    },
  },
  {
    name: 'from a result in the journal one comes to the decision, the message and the prompt behind it',
    async run({ browser, site }) {
      const workspaceId = await site.makeWorkspace('Why');
      const goal = 'Make a storyboard of three shots about a market';
      const page = await site.openAt(browser, workspaceId);
      await page.getByLabel(WRITE).fill(goal);
      await page.keyboard.press('Enter');
      await page.locator('.task-link a').first().click();
      await page.getByRole('region', { name: 'Please look' }).waitFor();
      await page.getByRole('tab', { name: 'Journal' }).click();
      await page.getByLabel('Show').selectOption('RESULT');
      await page.getByRole('button', { name: 'Why?' }).first().click();
      const why = page.getByRole('dialog', { name: 'Why?' });
      await why.getByText(goal).waitFor();
      await why.getByText(/Write the prompt/).first().waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('tab', { name: 'Executors' }).click();
      await page.getByText('Prompt engineer').waitFor();
    },
  },
  {
    name: 'a person edits a work of a task, and the task shows what it has not seen yet',
    async run({ browser, site }) {
      const workspaceId = await site.makeWorkspace('Notices');
      const taskId = await site.makeTask(workspaceId, 'Make a storyboard of three shots about a tower');
      const page = await site.openAt(browser, workspaceId, taskId);
      await page.getByRole('region', { name: 'Please look' }).waitFor();
      await page.locator('.peek > a').click();
      await page.getByRole('article', { name: 'Shot 2' }).getByLabel('Title').fill('A tower of glass');
      await page.getByText('Changed since it looked').waitFor();
    },
  },
  {
    name: 'tasks are stopped, resumed, merged and archived',
    async run({ browser, site }) {
      const workspaceId = await site.makeWorkspace('Endings');
      const first = await site.makeTask(workspaceId, 'Make a storyboard of three shots about a river');
      await site.makeTask(workspaceId, 'Make a storyboard of three shots about a lake');
      const page = await site.openAt(browser, workspaceId, first);
      const head = page.locator('.task-head .pill');
      await page.getByRole('region', { name: 'Please look' }).waitFor();
      await page.getByRole('button', { name: 'Stop' }).click();
      await head.getByText('Stopped', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Resume' }).click();
      await head.getByText('Stopped', { exact: true }).waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Merge…' }).click();
      await page.getByRole('dialog').getByRole('button', { name: /lake/ }).click();
      await page.getByRole('heading', { name: /lake/ }).waitFor();
      await page.getByRole('button', { name: 'Archive' }).click();
      await head.getByText('Archived').waitFor();
      await goTo(page, workspaceId, 'tasks');
      await until(() => page.locator('.task-list li').count(), 2);
    },
  },
  {
    name: 'works are attached to a message, and somebody else answers the question',
    async run({ browser, site }) {
      const workspaceId = await site.makeWorkspace('Together');
      await site.makeWork(workspaceId, 'TEXT', 'The keeper', { text: 'A lighthouse.' });
      const page = await site.openAt(browser, workspaceId);
      await page.getByRole('button', { name: 'Attach a work' }).click();
      await page.getByRole('dialog').getByRole('button', { name: /The keeper/ }).click();
      await page.getByLabel(WRITE).fill('Make a storyboard of three shots about a lighthouse');
      await page.keyboard.press('Enter');
      await page.getByRole('list', { name: 'Messages' }).getByRole('link', { name: /The keeper/ }).waitFor();
      const bearer = await site.makeMember(workspaceId, 'Edgar', 'EDITOR');
      const other = await site.openAt(browser, workspaceId, '', { bearer });
      await other.getByRole('region', { name: 'Please look' }).getByRole('button', { name: 'Confirm and continue' }).click();
      await page.getByRole('region', { name: 'Please look' }).waitFor({ state: 'detached' });
      // The conversation itself is private.
      assert.equal(await other.locator('.message').count(), 0);
    },
  },
  {
    name: 'a message that fits two tasks is asked about, goes where the person says, and can be moved afterwards',
    async run({ browser, site }) {
      const workspaceId = await site.makeWorkspace('Unclear');
      const [first, second] = [
        await site.makeTask(workspaceId, 'Make a storyboard of three shots about a fox'),
        await site.makeTask(workspaceId, 'Make a storyboard of three shots about a heron'),
      ];
      const page = await site.openAt(browser, workspaceId);
      await until(() => page.getByRole('region', { name: 'Please look' }).count(), 2);
      await page.getByLabel(WRITE).fill('make shot 2 darker');
      await page.keyboard.press('Enter');
      const card = page.getByRole('region', { name: 'What did you mean?' });
      await card.getByRole('button', { name: /fox/ }).click();
      const message = page.locator('.message.own').filter({ hasText: 'make shot 2 darker' });
      await message.locator('.task-link').getByText(/fox/).waitFor();
      await message.getByRole('button', { name: 'Move to another task' }).click();
      await page.getByRole('dialog').getByRole('button', { name: /heron/ }).click();
      await message.getByText(/moved from/).waitFor();
      await message.locator('.task-link').getByText(/heron/).waitFor();
      assert.notEqual(first, second);
    },
  },
];
