/** Checks of what a page does while the server is killed and started again; they bring a server of their own. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';

import { faults, Site, until } from './harness.mjs';

/** How a server of these checks behaves: whoever died is noticed soon. */
const SETTINGS = { ATELIER_RATE_LIMIT: 'off', ATELIER_LEASE: '2s', ATELIER_WATCHDOG_INTERVAL: '500ms' };

/** A server that is started, killed and started again on the same data. */
class Mortal {
  constructor([program, ...words]) {
    this.program = program;
    this.words = words;
    const after = (name) => words[words.indexOf(name) + 1];
    this.base = `http://${after('--listen')}`;
    this.token = after('--bootstrap-token');
  }

  async start() {
    this.process = spawn(this.program, this.words, { stdio: 'ignore', env: { ...process.env, ...SETTINGS } });
    const isReady = async () => {
      try {
        return (await fetch(`${this.base}/readyz`)).ok;
      } catch {
        return false;
      }
    };
    await until(isReady, true);
  }

  async kill(signal = 'SIGKILL') {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill(signal);
    await ended;
  }
}

/** What the browser itself says of a server that is not there. */
const ABSENCE = /net::ERR_(INTERNET_DISCONNECTED|CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING|SOCKET_NOT_CONNECTED)/;

/** Runs a check with a server of its own, which is gone afterwards. */
export async function withServer({ browser, line }, run) {
  const server = new Mortal(line);
  await server.start();
  try {
    await run(server, new Site(server.base, server.token));
  } finally {
    for (const context of browser.contexts()) await context.close();
    await server.kill('SIGTERM');
  }
  const others = faults.filter((fault) => !ABSENCE.test(fault));
  faults.splice(0, faults.length, ...others);
}

export const checks = [
  {
    name: 'the server is killed in the middle of a task and started again: the open page sees it finish, and nothing twice',
    run: ({ browser, line }) =>
      withServer({ browser, line }, async (server, site) => {
        const workspaceId = await site.makeWorkspace('Killed');
        const page = await site.openAt(browser, workspaceId);
        await page.evaluate(() => (globalThis.isSamePage = true));
        await page.getByLabel('Say what you want to make, or ask something').fill('Make a storyboard of twelve shots about a fox');
        await page.keyboard.press('Enter');
        await page.locator('.task-link a').first().click();
        const shots = page.getByRole('list', { name: /fox/ }).getByRole('listitem');
        await until(() => shots.count(), (count) => count >= 2);
        await server.kill();
        await page.getByText('No connection to the server').waitFor();
        // What is written now waits for the server.
        await page.getByLabel('Write to this task').fill('make shot 1 darker');
        await page.keyboard.press('Enter');
        await server.start();
        await page.getByText('No connection to the server').waitFor({ state: 'detached' });
        await until(() => shots.count(), 12);
        const message = page.getByRole('list', { name: 'Messages' }).getByRole('listitem').filter({ hasText: 'make shot 1 darker' });
        await message.getByText(/Taken into work/).waitFor();
        assert.equal(await page.locator('.message.own').filter({ hasText: 'make shot 1 darker' }).count(), 1);
        await page.getByRole('region', { name: 'Please look' }).last().waitFor();
        assert.equal(await page.evaluate(() => globalThis.isSamePage), true);
      }),
  },
  {
    name: 'what is typed into an open board while the server is away is there when it is back',
    run: ({ browser, line }) =>
      withServer({ browser, line }, async (server, site) => {
        const workspaceId = await site.makeWorkspace('Away');
        const nodes = [{ type: 'shot', fields: { title: 'Before' } }];
        const board = await site.makeWork(workspaceId, 'STORYBOARD', 'Away', { nodes });
        const [one, other] = [await site.openWork(browser, workspaceId, board), await site.openWork(browser, workspaceId, board)];
        const title = (page) => page.getByRole('article', { name: 'Shot 1' }).getByLabel('Title');
        await until(() => title(one).inputValue(), 'Before');
        await server.kill();
        await one.getByText('No connection; what you type is kept').waitFor();
        await title(one).press('End');
        await title(one).pressSequentially(' and after');
        await server.start();
        await until(() => title(other).inputValue(), 'Before and after');
      }),
  },
];
