/**
 * How quick the studio is with much in it: `node browser/speed.mjs URL TOKEN CHROMIUM`. Frames are counted while something is
 * dragged across a storyboard of 500 shots and a flow of 1,000 nodes; numbers are only as good as the machine is idle.
 */
import { launch, Site } from './harness.mjs';

const [base, token, executablePath] = process.argv.slice(2);
const WRITE = 'Say what you want to make, or ask something';
const SHOTS = 500;
const NODES = 1_000;
const AT_ONCE = 200;
const MOVES = 120;

/** Puts nodes and edges into a work, as many at once as the API takes. */
async function fill(site, workId, operations) {
  const read = 'query Q($id: ID!) { node(id: $id) { ... on Work { version } } }';
  const edit = 'mutation M($input: EditNodesInput!) { editNodes(input: $input) { __typename } }';
  for (let from = 0; from < operations.length; from += AT_ONCE) {
    const { node } = await site.api(read, { id: workId });
    const input = { workId, baseVersion: node.version, operations: operations.slice(from, from + AT_ONCE) };
    const { editNodes } = await site.api(edit, { input });
    if (editNodes.__typename !== 'EditApplied') throw new Error(`an edit became ${editNodes.__typename}`);
  }
}

/** Drags from the middle of something, and says how the frames came meanwhile. */
async function drag(page, what, name) {
  const box = await what.boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 20, y + 20, { steps: 4 });
  await page.evaluate(() => {
    globalThis.frames = [];
    let last = performance.now();
    const tick = (now) => {
      globalThis.frames.push(now - last);
      last = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  for (let move = 0; move < MOVES; move += 1) await page.mouse.move(x + 20 + ((move * 5) % 400), y + 20 + ((move * 3) % 250));
  const frames = (await page.evaluate(() => globalThis.frames)).sort((one, other) => one - other);
  await page.mouse.up();
  const mean = (1_000 * frames.length) / frames.reduce((sum, each) => sum + each, 0);
  const late = frames[Math.floor(frames.length * 0.95)];
  console.log(`${name}: ${mean.toFixed(1)} frames a second, 19 of 20 within ${late.toFixed(1)} ms`);
}

async function timed(name, run) {
  const began = performance.now();
  await run();
  console.log(`${name}: ${Math.round(performance.now() - began)} ms`);
}

async function main() {
  const browser = await launch(executablePath);
  const site = new Site(base, token);
  const workspaceId = await site.makeWorkspace('Large');
  let page = null;
  await timed('the first view', async () => {
    page = await site.open(browser);
    await page.getByLabel(WRITE).waitFor();
  });
  await timed('the first view again', async () => {
    await page.reload();
    await page.getByLabel(WRITE).waitFor();
  });
  const board = await site.makeWork(workspaceId, 'STORYBOARD', 'Long');
  const fields = { description: 'Wide shot, static camera.', prompt: 'a fox, wide shot' };
  await fill(site, board, Array.from({ length: SHOTS }, (_, at) => ({ put: { type: 'shot', fields: { ...fields, title: `Shot ${at}` } } })));
  await timed(`signing in and opening a storyboard of ${SHOTS} shots`, async () => {
    page = await site.openWork(browser, workspaceId, board);
    await page.locator('.board > li').nth(SHOTS - 1).waitFor({ state: 'attached' });
  });
  await drag(page, page.locator('.handle').nth(1), 'dragging a shot');
  await page.context().close();
  const flow = await site.makeWork(workspaceId, 'FLOW', 'Large');
  const place = (at) => ({ x: (at % 40) * 260, y: Math.floor(at / 40) * 140 });
  await fill(site, flow, [
    ...Array.from({ length: NODES }, (_, at) => ({ put: { id: `n${at}`, type: 'prompt', fields: { title: `Node ${at}`, position: place(at) } } })),
    ...Array.from({ length: NODES - 1 }, (_, at) => ({ connect: { source: `n${at}`, target: `n${at + 1}` } })),
  ]);
  await timed(`signing in and opening a flow of ${NODES} nodes`, async () => {
    page = await site.openWork(browser, workspaceId, flow);
    await page.locator('.react-flow__node').first().waitFor();
  });
  await drag(page, page.locator('.react-flow__node').nth(NODES / 2), 'dragging a node with all in view');
  for (let zoom = 0; zoom < 6; zoom += 1) await page.locator('.react-flow__controls-zoomin').click();
  await drag(page, page.locator('.react-flow__node').nth(5), 'dragging a node from near');
  await browser.close();
}

await main();
