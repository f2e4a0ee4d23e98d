/**
 * The studio and GraphiQL in a real browser, against a real server: `node browser/studio.mjs URL TOKEN CHROMIUM`.
 *
 * Invariants
 * - Everything is looked at as a person sees it; the API is used only to make what the checks work on.
 * - The browser may speak to the server alone, and the pages may report no error.
 * - The last line is `N passed, N failed`.
 */
import assert from 'node:assert/strict';

import { chromium } from 'playwright-core';

const [base, token, executablePath] = process.argv.slice(2);
const PATIENCE_MS = 20_000;
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const faults = [];
const checks = [];
const check = (name, run) => checks.push({ name, run });

async function api(query, variables, bearer = token) {
  const response = await fetch(`${base}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = await response.json();
  assert.ok(!errors, JSON.stringify(errors));
  return data;
}

async function makeWork(workspaceId, kind, title) {
  const query = 'mutation M($input: CreateWorkInput!) { createWork(input: $input) { work { id } } }';
  return (await api(query, { input: { workspaceId, kind, title } })).createWork.work.id;
}

async function makeWorkspace() {
  const query = 'mutation M($input: CreateWorkspaceInput!) { createWorkspace(input: $input) { workspace { id } } }';
  return (await api(query, { input: { name: 'Browser checks' } })).createWorkspace.workspace.id;
}

async function makeViewer(workspaceId) {
  const member = 'mutation M($input: AddMemberInput!) { addMember(input: $input) { member { user { id } } } }';
  const email = `viewer-${Date.now()}@example.org`;
  const added = await api(member, { input: { workspaceId, email, name: 'Vera', role: 'VIEWER' } });
  const userId = added.addMember.member.user.id;
  const made = 'mutation M($input: CreateTokenInput!) { createToken(input: $input) { secret } }';
  const input = { label: 'browser', kind: 'PERSONAL', userId, workspaceId };
  return (await api(made, { input })).createToken.secret;
}

/** A page of a person of their own: another session, another storage. */
async function open(browser, path, bearer = token) {
  const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1200, height: 800 } });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(`an error in the page: ${error}`));
  page.on('console', (message) => message.type() === 'error' && faults.push(`said by the page: ${message.text()}`));
  page.on('request', (request) => {
    const isOwn = ['data:', 'blob:', base].some((start) => request.url().startsWith(start));
    if (!isOwn) faults.push(`asked of somebody else: ${request.url()}`);
  });
  await page.goto(bearer ? `${base}${path}#token=${bearer}` : `${base}${path}`);
  return page;
}

async function openWork(browser, workspaceId, workId, bearer) {
  const page = await open(browser, '/', bearer);
  await page.getByRole('navigation').waitFor();
  await page.evaluate((hash) => (location.hash = hash), `#/${workspaceId}/${workId}`);
  await page.getByText('Connected').waitFor();
  return page;
}

const shot = (page, number) => page.getByRole('article', { name: `Shot ${number}` });
const title = (page, number) => shot(page, number).getByLabel('Title');

async function until(read, wanted) {
  const ends = Date.now() + PATIENCE_MS;
  let seen = await read();
  while (seen !== wanted && Date.now() < ends) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    seen = await read();
  }
  assert.equal(seen, wanted);
}

check('without a token the studio asks for one, and says when one is refused', async ({ browser }) => {
  const page = await open(browser, '/', null);
  await page.getByLabel('Token').fill('no-such-token');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').waitFor();
  // The browser itself reports the refusal, as it should.
  faults.length = 0;
});

check('the printed link signs in, and the token leaves the address', async ({ browser }) => {
  const page = await open(browser, '/');
  await page.getByRole('navigation').waitFor();
  assert.ok(!page.url().includes(token), page.url());
});

check('two people edit one storyboard at once and see the same', async ({ browser, workspaceId, board }) => {
  const [one, other] = [await openWork(browser, workspaceId, board), await openWork(browser, workspaceId, board)];
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
  await shot(one, 1).getByRole('button', { name: 'Move right' }).click();
  await until(() => title(other, 1).inputValue(), 'Second');
  other.on('dialog', (dialog) => dialog.accept());
  await shot(other, 1).getByRole('button', { name: 'Remove' }).click();
  await until(() => one.getByRole('article').count(), 1);
  // Both pages are the same person in two windows.
  await until(() => one.locator('.presence li').count(), 2);
});

check('what was typed is there after the page is opened again', async ({ browser, workspaceId, board }) => {
  const page = await openWork(browser, workspaceId, board);
  await until(() => title(page, 1).inputValue(), 'qqqqqqqqDawn 分镜 😀pppppppp');
});

check('an edit through the API appears on the open board', async ({ browser, workspaceId, board }) => {
  const page = await openWork(browser, workspaceId, board);
  const read = 'query Q($id: ID!) { node(id: $id) { ... on Storyboard { version nodes { id } } } }';
  const { version, nodes } = (await api(read, { id: board })).node;
  const edit = 'mutation M($input: EditNodesInput!) { editNodes(input: $input) { __typename } }';
  const operations = [{ set: { nodeId: nodes[0].id, fields: { title: 'Through the API' } } }];
  const result = await api(edit, { input: { workId: board, baseVersion: version, operations } });
  assert.equal(result.editNodes.__typename, 'EditApplied');
  await until(() => title(page, 1).inputValue(), 'Through the API');
});

check('a viewer sees the board and can not type', async ({ browser, workspaceId, board }) => {
  const viewer = await makeViewer(workspaceId);
  const page = await openWork(browser, workspaceId, board, viewer);
  await until(() => title(page, 1).inputValue(), 'Through the API');
  assert.equal(await title(page, 1).getAttribute('readonly'), '');
  assert.equal(await page.getByRole('button', { name: 'Add a shot' }).count(), 0);
});

check('a new work appears in the lists of others', async ({ browser, workspaceId, board }) => {
  const [one, other] = [await openWork(browser, workspaceId, board), await openWork(browser, workspaceId, board)];
  await one.locator('.new-work input').fill('Treatment');
  await one.locator('.new-work select').selectOption('TEXT');
  await one.getByRole('button', { name: 'Create' }).click();
  await one.locator('.page textarea').fill('A fox at dawn.');
  await other.getByRole('button', { name: /^Treatment/ }).click();
  await until(() => other.locator('.page textarea').inputValue(), 'A fox at dawn.');
});

check('the studio speaks three languages', async ({ browser }) => {
  const page = await open(browser, '/');
  for (const [language, words] of [['ru', 'Выйти'], ['zh', '退出'], ['en', 'Sign out']]) {
    await page.locator('header select').last().selectOption(language);
    await page.getByRole('button', { name: words }).waitFor();
  }
});

check('GraphiQL works offline, with the token of the link', async ({ browser }) => {
  const page = await open(browser, '/graphiql/');
  // The button is there before the editor has its first query, and runs nothing until then.
  await page.locator('.view-line').getByText('viewer', { exact: false }).first().waitFor();
  await page.getByRole('button', { name: /Execute query/ }).click();
  await page.locator('.result-window').getByText('"viewer"').waitFor();
  assert.ok(!page.url().includes(token), page.url());
});

async function main() {
  const browser = await chromium.launch({ executablePath, args: QUIET });
  const workspaceId = await makeWorkspace();
  const board = await makeWork(workspaceId, 'STORYBOARD', 'Fox film');
  let failed = 0;
  for (const { name, run } of checks) {
    faults.length = 0;
    try {
      await run({ browser, workspaceId, board });
      assert.deepEqual(faults, []);
      console.log(`ok      ${name}`);
    } catch (reason) {
      failed += 1;
      console.log(`FAILED  ${name}\n${reason.stack ?? reason}`);
    }
    for (const context of browser.contexts()) await context.close();
  }
  await browser.close();
  console.log(`${checks.length - failed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

await main();
