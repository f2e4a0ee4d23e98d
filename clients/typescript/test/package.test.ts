/** The package as others get it: whole, in step with the server, and its first example runs as it stands in the README. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { buildSchema, parse } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';

import * as client from '../src/index.js';
import { Installation } from './server.js';

const run = promisify(execFile);
const folder = join(dirname(fileURLToPath(import.meta.url)), '..');
const read = (path: string): string => readFileSync(join(folder, path), 'utf8');

let installation: Installation;
beforeAll(async () => {
  installation = await Installation.open();
});
afterAll(() => installation.remove());

test('every mutation and every subscription of the schema has its operation', () => {
  const schema = buildSchema(read('schema.graphql'));
  const fields = [schema.getMutationType(), schema.getSubscriptionType()].flatMap((type) => Object.keys(type?.getFields() ?? {}));
  const missing = fields.filter((field) => !((field[0]?.toUpperCase() ?? '') + field.slice(1) in client));
  expect(missing).toEqual([]);
});

test('the schema that the package carries is the one of the server', async () => {
  const { stdout } = await run(installation.binary, ['schema'], { maxBuffer: 1e8 });
  expect(parse(read('schema.graphql'), { noLocation: true })).toEqual(parse(stdout, { noLocation: true }));
});

test('the codes of errors are those that the server gives', () => {
  const table = /^codes! \{([^]*?)^\}/m.exec(read('../../api/src/graphql/error.rs'))?.[1] ?? '';
  const codes = [...table.matchAll(/= "(\w+)"/g)].map(([, code]) => code);
  expect(codes.length).toBeGreaterThan(10);
  expect([...client.CODES].sort()).toEqual(codes.sort());
});

test('what is packed is what a program needs, and nothing else', async () => {
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: folder });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const paths = files.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(['README.md', 'dist/index.d.ts', 'dist/index.js', 'package.json', 'schema.graphql']));
  expect(paths.filter((path) => !path.startsWith('dist/')).sort()).toEqual(['README.md', 'package.json', 'schema.graphql']);
});

test('the first example of the README runs as it stands there, on the built package', async () => {
  const example = /```js\n([^]*?)```/.exec(read('README.md'))?.[1] ?? '';
  const path = join(folder, 'dist/example.mjs');
  writeFileSync(path, example);
  const owner = await installation.owner();
  const env = { ...process.env, ATELIER_URL: installation.url, ATELIER_TOKEN: owner.secret };
  const { stdout } = await run('node', [path], { env });
  await rm(path);
  expect(stdout).toBe('WORK_CREATED\nWORK_CHANGED\nstored: A fox in a night city. It snows.\n');
});
