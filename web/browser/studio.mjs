/**
 * The studio and GraphiQL in a real browser, against a real server:
 * `node browser/studio.mjs URL TOKEN CHROMIUM PROGRAM ARGUMENTS…`, the latter for a server that may be killed.
 *
 * Invariants
 * - Everything is looked at as a person sees it; the API is used only to make what the checks work on.
 * - The last line is `N passed, N failed`.
 */
import assert from 'node:assert/strict';

import { faults, launch, Site } from './harness.mjs';
import { checks as files } from './files.mjs';
import { checks as frame } from './frame.mjs';
import { checks as memory } from './memory.mjs';
import { checks as restart } from './restart.mjs';
import { checks as room } from './room.mjs';
import { checks as tasks } from './tasks.mjs';
import { checks as works } from './works.mjs';

const [base, token, executablePath, ...line] = process.argv.slice(2);
const only = process.env.CHECK ?? '';

/** In this order; `CHECK` chooses one file, or all whose names have these words. */
const FILES = { frame, works, tasks, memory, room, files, restart };

async function main() {
  const browser = await launch(executablePath);
  const site = new Site(base, token);
  const workspaceId = await site.makeWorkspace();
  const checks = Object.entries(FILES).flatMap(([file, all]) => all.filter(({ name }) => file === only || name.includes(only)));
  let failed = 0;
  for (const { name, run } of checks) {
    faults.length = 0;
    try {
      await run({ browser, site, workspaceId, line });
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
