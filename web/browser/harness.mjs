/**
 * What every check in the browser uses: pages of people, the API to make what they work on, and waiting for a condition.
 *
 * Invariants
 * - The browser may speak to the server alone, and the pages may report no error: `faults` says otherwise.
 * - Nothing waits for a time: everything waits for something to be seen.
 */
import assert from 'node:assert/strict';

import { chromium } from 'playwright-core';

export const PATIENCE_MS = 30_000;
const POLL_MS = 50;
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** What went wrong in a page without anybody looking. */
export const faults = [];

/** A server as one person reaches it. */
export class Site {
  constructor(base, token) {
    this.base = base;
    this.token = token;
  }

  async api(query, variables, bearer = this.token) {
    const response = await fetch(`${this.base}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = await response.json();
    assert.ok(!errors, JSON.stringify(errors));
    return data;
  }

  async makeWorkspace(name = 'Browser checks') {
    const query = 'mutation M($input: CreateWorkspaceInput!) { createWorkspace(input: $input) { workspace { id } } }';
    return (await this.api(query, { input: { name } })).createWorkspace.workspace.id;
  }

  async makeWork(workspaceId, kind, title, content = {}) {
    const query = 'mutation M($input: CreateWorkInput!) { createWork(input: $input) { work { id } } }';
    return (await this.api(query, { input: { workspaceId, kind, title, ...content } })).createWork.work.id;
  }

  async makeTask(workspaceId, goal, rest = {}) {
    const query = 'mutation M($input: CreateTaskInput!) { createTask(input: $input) { task { id } } }';
    return (await this.api(query, { input: { workspaceId, goal, ...rest } })).createTask.task.id;
  }

  /** Puts a file into a workspace and returns its asset's id. */
  async upload(workspaceId, title, bytes, mediaType = 'application/octet-stream') {
    const query = 'mutation M($input: CreateUploadInput!) { createUpload(input: $input) { uploadUrl asset { id } } }';
    const input = { workspaceId, title, mediaType, byteSize: bytes.length };
    const { uploadUrl, asset } = (await this.api(query, { input })).createUpload;
    const headers = { authorization: `Bearer ${this.token}`, 'content-type': mediaType };
    const { pathname, search } = new URL(uploadUrl);
    const response = await fetch(`${this.base}${pathname}${search}`, { method: 'PUT', headers, body: bytes });
    assert.equal(response.status, 201, await response.text());
    return asset.id;
  }

  async remember(workspaceId, content, rest = {}) {
    const query = 'mutation M($input: RememberInput!) { remember(input: $input) { memory { id } } }';
    return (await this.api(query, { input: { workspaceId, content, ...rest } })).remember.memory.id;
  }

  /** Sets what may be spent, in millionths of a dollar. */
  async setBudget(workspaceId, limits) {
    const query = 'mutation M($input: SetBudgetInput!) { setBudget(input: $input) { budget { spent { micros } } } }';
    const money = Object.fromEntries(Object.entries(limits).map(([name, micros]) => [name, { micros }]));
    await this.api(query, { input: { workspaceId, ...money } });
  }

  /** The open card of a task of one of these kinds, as soon as there is one. */
  async openCard(taskId, kinds) {
    const query = 'query Q($id: ID!) { node(id: $id) { ... on Task { cards(open: true) { id kind options { id } works { id } } } } }';
    let card = null;
    await until(async () => {
      card = (await this.api(query, { id: taskId })).node.cards.find(({ kind }) => kinds.includes(kind)) ?? null;
      return card !== null;
    }, true);
    return card;
  }

  async answer(cardId, optionId) {
    const query = 'mutation M($input: AnswerCardInput!) { answerCard(input: $input) { __typename } }';
    const { answerCard } = await this.api(query, { input: { cardId, optionId } });
    assert.equal(answerCard.__typename, 'AnswerCardPayload');
  }

  async makeMember(workspaceId, name, role) {
    const member = 'mutation M($input: AddMemberInput!) { addMember(input: $input) { member { user { id } } } }';
    const email = `${name.toLowerCase()}-${Date.now()}@example.org`;
    const added = await this.api(member, { input: { workspaceId, email, name, role } });
    const userId = added.addMember.member.user.id;
    const made = 'mutation M($input: CreateTokenInput!) { createToken(input: $input) { secret } }';
    const input = { label: 'browser', kind: 'PERSONAL', userId, workspaceId };
    return (await this.api(made, { input })).createToken.secret;
  }

  /** A page of a person of their own: another session, another storage. */
  async open(browser, path = '/', { bearer = this.token, ...options } = {}) {
    const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 800 }, ...options });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    page.on('pageerror', (error) => faults.push(`an error in the page: ${error}`));
    page.on('console', (message) => message.type() === 'error' && faults.push(`said by the page: ${message.text()}`));
    page.on('request', (request) => {
      const isOwn = ['data:', 'blob:', this.base].some((start) => request.url().startsWith(start));
      if (!isOwn) faults.push(`asked of somebody else: ${request.url()}`);
    });
    await page.goto(bearer ? `${this.base}${path}#token=${bearer}` : `${this.base}${path}`);
    return page;
  }

  /** A page at a place of a workspace. */
  async openAt(browser, workspaceId, place = '', options = {}) {
    const page = await this.open(browser, '/', options);
    await page.getByRole('main').waitFor();
    await goTo(page, workspaceId, place);
    return page;
  }

  /** A page with a work that is live. */
  async openWork(browser, workspaceId, workId, options = {}) {
    const page = await this.openAt(browser, workspaceId, workId, options);
    await page.getByText('Connected', { exact: true }).waitFor();
    return page;
  }
}

export async function goTo(page, workspaceId, place = '') {
  await page.evaluate((hash) => (location.hash = hash), place ? `#/${workspaceId}/${place}` : `#/${workspaceId}`);
}

/** Waits until what is read is what is wanted, or fails with what was seen. */
export async function until(read, wanted) {
  const isWanted = typeof wanted === 'function' ? wanted : (seen) => seen === wanted;
  const ends = Date.now() + PATIENCE_MS;
  let seen = await read();
  while (!isWanted(seen) && Date.now() < ends) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    seen = await read();
  }
  if (typeof wanted === 'function') assert.ok(isWanted(seen), `seen at the end: ${JSON.stringify(seen)}`);
  else assert.equal(seen, wanted);
}

export async function launch(executablePath) {
  return chromium.launch({ executablePath, args: QUIET });
}
