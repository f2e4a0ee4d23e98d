/** Checks of works: boards, flows and texts that several people have open, their history, and who may do what. */
import assert from 'node:assert/strict';

import { until } from './harness.mjs';

const shot = (page, number) => page.getByRole('article', { name: `Shot ${number}` });
const title = (page, number) => shot(page, number).getByLabel('Title');
const titles = (page) => page.getByRole('article').getByLabel('Title').evaluateAll((all) => all.map(({ value }) => value).join(' '));
const shots = (...names) => ({ nodes: names.map((name) => ({ type: 'shot', fields: { title: name } })) });

export const checks = [
  {
    name: 'two people edit one storyboard at once and see the same',
    async run({ browser, site, workspaceId }) {
      const board = await site.makeWork(workspaceId, 'STORYBOARD', 'Fox film');
      const [one, other] = [await site.openWork(browser, workspaceId, board), await site.openWork(browser, workspaceId, board)];
      await one.getByRole('button', { name: 'Add a shot' }).click();
      await one.keyboard.type('Dawn 分镜 😀');
      await until(() => title(other, 1).inputValue(), 'Dawn 分镜 😀');
      await title(one, 1).press('End');
      await title(other, 1).press('Home');
      await Promise.all([
        title(one, 1).pressSequentially('pppppppp', { delay: 15 }),
        title(other, 1).pressSequentially('qqqqqqqq', { delay: 15 }),
      ]);
      for (const page of [one, other]) await until(() => title(page, 1).inputValue(), 'qqqqqqqqDawn 分镜 😀pppppppp');
      await other.getByRole('button', { name: 'Add a shot' }).click();
      await other.keyboard.type('Second');
      await until(() => title(one, 2).inputValue(), 'Second');
      // Both pages are the same person in two windows; one sees at which shot the other is.
      await until(() => one.locator('.presence li').count(), 2);
      await until(() => shot(one, 2).locator('.name').count(), 1);
      await shot(one, 1).getByRole('button', { name: 'Move right' }).click();
      await until(() => title(other, 1).inputValue(), 'Second');
      other.on('dialog', (dialog) => dialog.accept());
      await shot(other, 1).getByRole('button', { name: 'Remove' }).click();
      await until(() => one.getByRole('article').count(), 1);
      await one.reload();
      await until(() => title(one, 1).inputValue(), 'qqqqqqqqDawn 分镜 😀pppppppp');
    },
  },
  {
    name: 'shots are put in order by dragging, and by the arrow keys',
    async run({ browser, site, workspaceId }) {
      const board = await site.makeWork(workspaceId, 'STORYBOARD', 'Order', shots('a', 'b', 'c', 'd'));
      const [one, other] = [await site.openWork(browser, workspaceId, board), await site.openWork(browser, workspaceId, board)];
      const handle = (number) => shot(one, number).getByRole('button', { name: /arrow keys/ });
      await handle(4).dragTo(shot(one, 2), { targetPosition: { x: 8, y: 60 } });
      await until(() => titles(other), 'a d b c');
      await handle(1).focus();
      await one.keyboard.press('ArrowRight');
      await until(() => titles(other), 'd a b c');
      await one.keyboard.press('End');
      await until(() => titles(other), 'd b c a');
      await one.keyboard.press('Home');
      await until(() => titles(other), 'a d b c');
    },
  },
  {
    name: 'an edit through the API appears on the open board',
    async run({ browser, site, workspaceId }) {
      const board = await site.makeWork(workspaceId, 'STORYBOARD', 'From outside', shots('First'));
      const page = await site.openWork(browser, workspaceId, board);
      await until(() => title(page, 1).inputValue(), 'First');
      const read = 'query Q($id: ID!) { node(id: $id) { ... on Storyboard { version nodes { id } } } }';
      const { version, nodes } = (await site.api(read, { id: board })).node;
      const edit = 'mutation M($input: EditNodesInput!) { editNodes(input: $input) { __typename } }';
      const operations = [{ set: { nodeId: nodes[0].id, fields: { title: 'Through the API', duration: 6 } } }];
      const result = await site.api(edit, { input: { workId: board, baseVersion: version, operations } });
      assert.equal(result.editNodes.__typename, 'EditApplied');
      await until(() => title(page, 1).inputValue(), 'Through the API');
      await until(() => shot(page, 1).getByLabel('Seconds').inputValue(), '6');
    },
  },
  {
    name: 'a viewer sees the board and can neither type nor talk',
    async run({ browser, site, workspaceId }) {
      const board = await site.makeWork(workspaceId, 'STORYBOARD', 'To look at', shots('Seen'));
      const bearer = await site.makeMember(workspaceId, 'Vera', 'VIEWER');
      const page = await site.openWork(browser, workspaceId, board, { bearer });
      await until(() => title(page, 1).inputValue(), 'Seen');
      assert.equal(await title(page, 1).getAttribute('readonly'), '');
      assert.equal(await page.getByRole('button', { name: 'Add a shot' }).count(), 0);
      await page.getByRole('link', { name: 'Conversation' }).click();
      await page.getByRole('heading', { name: 'Conversation' }).waitFor();
      assert.equal(await page.getByRole('button', { name: 'Send' }).count(), 0);
    },
  },
  {
    name: 'two people write one text, and each sees where the other is',
    async run({ browser, site, workspaceId }) {
      const one = await site.openAt(browser, workspaceId, 'works');
      await one.getByRole('form', { name: 'New work' }).getByLabel('Title').fill('Treatment');
      await one.getByRole('form', { name: 'New work' }).getByLabel('Kind').selectOption('TEXT');
      await one.getByRole('button', { name: 'Create' }).click();
      const text = (page) => page.getByRole('textbox', { name: 'Text' });
      await text(one).click();
      await one.keyboard.type('# A fox at dawn');
      const other = await site.openAt(browser, workspaceId);
      await other.getByRole('link', { name: /Treatment/ }).click();
      await until(() => text(other).innerText(), (seen) => seen.includes('A fox at dawn'));
      await text(other).click();
      await other.keyboard.press('Control+End');
      await other.keyboard.type(' and 分镜');
      await until(() => text(one).innerText(), (seen) => seen.includes('A fox at dawn and 分镜'));
      await until(() => one.locator('.caret').count(), 1);
      await one.keyboard.press('Control+z');
      await until(() => text(other).innerText(), (seen) => seen.includes(' and 分镜') && !seen.includes('fox'));
      await one.keyboard.press('Control+y');
      await one.getByRole('button', { name: 'Preview' }).click();
      await one.locator('.text-preview .heading').getByText('A fox at dawn and 分镜').waitFor();
    },
  },
  {
    name: 'two people edit one flow: nodes, places and connections',
    async run({ browser, site, workspaceId }) {
      const nodes = [
        { id: 'script', type: 'text', fields: { title: 'Script', position: { x: 0, y: 0 } } },
        { id: 'poster', type: 'image', fields: { title: 'Poster', position: { x: 320, y: 0 } } },
      ];
      const flow = await site.makeWork(workspaceId, 'FLOW', 'From script to poster', { nodes });
      const [one, other] = [await site.openWork(browser, workspaceId, flow), await site.openWork(browser, workspaceId, flow)];
      const node = (page, id) => page.locator(`.react-flow__node[data-id="${id}"]`);
      const place = (id) => node(other, id).evaluate((element) => element.style.transform);
      await node(other, 'script').waitFor();
      const before = await place('script');
      const box = await node(one, 'script').boundingBox();
      await one.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      await one.mouse.down();
      await one.mouse.move(box.x + box.width / 2 + 40, box.y + box.height / 2 + 90, { steps: 8 });
      await one.mouse.up();
      await until(() => place('script'), (seen) => seen !== before);
      await other.locator('.pointer').waitFor({ state: 'attached' });
      await node(one, 'script').locator('.react-flow__handle.source').dragTo(node(one, 'poster').locator('[data-handleid=prompt].target'));
      await until(() => other.locator('.react-flow__edge').count(), 1);
      await one.getByRole('button', { name: 'Add a node' }).click();
      await one.getByRole('region', { name: 'Node' }).getByLabel('Title').fill('Grade');
      await other.locator('.flow-node').getByText('Grade').waitFor();
      await other.locator('.flow-node').getByText('Script').waitFor();
      // Without dragging, by keyboard alone.
      await node(other, 'script').focus();
      await other.keyboard.press('Enter');
      await other.getByRole('region', { name: 'Node' }).getByLabel('Connect to').selectOption({ label: 'Grade' });
      await until(() => one.locator('.react-flow__edge').count(), 2);
      await node(other, 'poster').click();
      await other.keyboard.press('Delete');
      await until(() => one.locator('.react-flow__node').count(), 2);
      await until(() => one.locator('.react-flow__edge').count(), 1);
    },
  },
  {
    name: 'the history says who changed what, shows the difference, and brings a version back',
    async run({ browser, site, workspaceId }) {
      const board = await site.makeWork(workspaceId, 'STORYBOARD', 'With a past', shots('Red fox'));
      const page = await site.openWork(browser, workspaceId, board);
      await until(() => title(page, 1).inputValue(), 'Red fox');
      const edit = 'mutation M($input: EditNodesInput!) { editNodes(input: $input) { __typename } }';
      const read = 'query Q($id: ID!) { node(id: $id) { ... on Storyboard { version nodes { id } } } }';
      const { version, nodes } = (await site.api(read, { id: board })).node;
      const editor = await site.makeMember(workspaceId, 'Edna', 'EDITOR');
      const operations = [{ set: { nodeId: nodes[0].id, fields: { title: 'Grey fox' } } }];
      await site.api(edit, { input: { workId: board, baseVersion: version, operations } }, editor);
      await until(() => title(page, 1).inputValue(), 'Grey fox');
      await page.getByRole('button', { name: 'History' }).click();
      const history = page.getByRole('complementary', { name: 'History' });
      await history.getByRole('button', { name: /Edna/ }).click();
      await history.locator('ins').getByText('Grey').waitFor();
      await history.locator('del').getByText('Red').waitFor();
      await history.getByRole('button', { name: /v1/ }).click();
      await history.getByRole('button', { name: 'Restore version 1' }).click();
      await until(() => title(page, 1).inputValue(), 'Red fox');
    },
  },
  {
    name: 'a picture that is dropped on a shot is uploaded and shown to others',
    async run({ browser, site, workspaceId }) {
      const board = await site.makeWork(workspaceId, 'STORYBOARD', 'With pictures', shots('One'));
      const [one, other] = [await site.openWork(browser, workspaceId, board), await site.openWork(browser, workspaceId, board)];
      const data = await one.evaluateHandle(() => {
        const canvas = Object.assign(document.createElement('canvas'), { width: 64, height: 36 });
        canvas.getContext('2d').fillRect(0, 0, 64, 36);
        const bytes = Uint8Array.from(atob(canvas.toDataURL('image/png').split(',')[1]), (each) => each.charCodeAt(0));
        const transfer = new DataTransfer();
        transfer.items.add(new File([bytes], 'frame.png', { type: 'image/png' }));
        return transfer;
      });
      await shot(one, 1).locator('.picture').dispatchEvent('drop', { dataTransfer: data });
      await until(() => shot(other, 1).locator('img').evaluateAll((all) => all.some(({ naturalWidth }) => naturalWidth > 0)), true);
    },
  },
];
