/** Checks of files and of what is said when people meet: drops, pastes, refusals, bodies in space, conflicts in words. */
import assert from 'node:assert/strict';

import { lighthouse } from './bodies.mjs';
import { faults, goTo, until } from './harness.mjs';
import { withServer } from './restart.mjs';

/** Files as a browser hands them over. */
const transfer = (page, files) =>
  page.evaluateHandle((all) => {
    const made = new DataTransfer();
    for (const { name, type, text } of all) made.items.add(new File([text], name, { type }));
    return made;
  }, files);

export const checks = [
  {
    name: 'files dropped on the works become assets, and one that is refused says why and holds up no other',
    async run({ browser, site }) {
      const workspaceId = await site.makeWorkspace('Files');
      const page = await site.openAt(browser, workspaceId, 'works');
      await page.getByRole('heading', { name: 'Works' }).waitFor();
      const files = [
        { name: 'empty.txt', type: 'text/plain', text: '' },
        { name: 'not-a-picture.png', type: 'image/png', text: 'these are words' },
        { name: 'notes.txt', type: 'text/plain', text: 'two short, one long' },
      ];
      await page.locator('.works-page').dispatchEvent('drop', { dataTransfer: await transfer(page, files) });
      const list = page.getByRole('list', { name: 'Uploading' });
      await list.getByText('The file is empty. Choose another one.').waitFor();
      await list.getByText('That did not work:', { exact: false }).waitFor();
      // The browser itself reports the refusal, as it should.
      faults.length = 0;
      await page.locator('.work-grid').getByText('notes.txt').click();
      await page.locator('.text-file').getByText('two short, one long').waitFor();
    },
  },
  {
    name: 'a file that is pasted goes along with a message',
    async run({ browser, site }) {
      const workspaceId = await site.makeWorkspace('Pasted');
      const page = await site.openAt(browser, workspaceId);
      const box = page.getByLabel('Say what you want to make, or ask something');
      await box.waitFor();
      const data = await transfer(page, [{ name: 'brief.md', type: 'text/markdown', text: '# Brief' }]);
      await box.evaluate((element, clipboardData) => element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })), data);
      await page.getByRole('list', { name: 'Attached' }).getByText('brief.md').waitFor();
      await box.fill('What can you do?');
      await page.keyboard.press('Enter');
      await page.locator('.message.own').getByRole('link', { name: /brief\.md/ }).waitFor();
    },
  },
  {
    name: 'a body in space is shown, turned by keyboard, and its viewer is loaded only then',
    async run({ browser, site }) {
      const workspaceId = await site.makeWorkspace('Bodies');
      const model = await site.upload(workspaceId, 'lighthouse.glb', lighthouse());
      const page = await site.openAt(browser, workspaceId, 'works');
      const viewers = () => page.evaluate(() => performance.getEntriesByType('resource').filter(({ name }) => name.includes('model_view')).length);
      assert.equal(await viewers(), 0);
      await goTo(page, workspaceId, model);
      const stage = page.getByLabel('3D view of lighthouse.glb');
      await page.getByRole('button', { name: 'Reset the view' }).waitFor();
      assert.ok((await viewers()) > 0);
      const before = await stage.screenshot();
      await stage.focus();
      for (let turn = 0; turn < 3; turn += 1) await page.keyboard.press('ArrowUp');
      await until(async () => !(await stage.screenshot()).equals(before), true);
    },
  },
  {
    name: 'whoever is at a shot that somebody removes is told who did',
    async run({ browser, site }) {
      const workspaceId = await site.makeWorkspace('Removed');
      const board = await site.makeWork(workspaceId, 'STORYBOARD', 'Meeting', { nodes: [{ id: 'one', fields: { title: 'One' } }, { id: 'two', fields: { title: 'Two' } }] });
      const page = await site.openWork(browser, workspaceId, board);
      await page.getByRole('article', { name: 'Shot 1' }).getByLabel('Title').click();
      const editor = await site.makeMember(workspaceId, 'Edna', 'EDITOR');
      const edit = 'mutation M($input: EditNodesInput!) { editNodes(input: $input) { __typename } }';
      await site.api(edit, { input: { workId: board, baseVersion: 1, operations: [{ remove: 'one' }] } }, editor);
      await page.getByText('Edna removed what you were at.', { exact: false }).waitFor();
    },
  },
  {
    name: 'who was without a connection reads what others did meanwhile, and what both changed',
    run: ({ browser, line }) =>
      withServer({ browser, line }, async (server, site) => {
        const workspaceId = await site.makeWorkspace('Meanwhile');
        const nodes = [{ id: 'one', fields: { title: 'Dawn' } }];
        const board = await site.makeWork(workspaceId, 'STORYBOARD', 'Meanwhile', { nodes });
        const editor = await site.makeMember(workspaceId, 'Edna', 'EDITOR');
        const page = await site.openWork(browser, workspaceId, board);
        const title = page.getByRole('article', { name: 'Shot 1' }).getByLabel('Title');
        await until(() => title.inputValue(), 'Dawn');
        await page.context().setOffline(true);
        await server.kill();
        await page.getByText('No connection; what you type is kept').waitFor();
        await title.press('End');
        await title.pressSequentially(' mine');
        await server.start();
        const edit = 'mutation M($input: EditNodesInput!) { editNodes(input: $input) { __typename } }';
        await site.api(edit, { input: { workId: board, baseVersion: 1, operations: [{ set: { nodeId: 'one', fields: { title: 'Dusk' } } }] } }, editor);
        await page.context().setOffline(false);
        const notice = page.getByRole('status', { name: 'While you had no connection' });
        await notice.getByText('Edna').waitFor();
        await notice.getByText('You both changed:', { exact: false }).waitFor();
        await notice.getByRole('button', { name: 'Understood' }).click();
        await notice.waitFor({ state: 'detached' });
      }),
  },
];
