/**
 * Writes `src/generated.ts`: a typed document for each operation in `../operations`, and the types of the schema's inputs
 * and enums, from the schema that the server prints. Copies that schema beside it, so that the package carries it.
 *
 * Invariants
 * - An operation that does not fit the schema ends this with what is wrong, so no build and no test can pass with one.
 * - What is written is not kept in the repository: it can not be older than the schema.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { codegen } from '@graphql-codegen/core';
import * as documentNodes from '@graphql-codegen/typed-document-node';
import * as typescript from '@graphql-codegen/typescript';
import * as operationTypes from '@graphql-codegen/typescript-operations';
import { buildSchema, Kind, parse } from 'graphql';

const here = dirname(fileURLToPath(import.meta.url));
const operations = join(here, '../operations');
const target = join(here, 'src/generated.ts');

/** How scalars travel in JSON. */
const SCALARS = {
  Bytes: 'string',
  Cursor: 'string',
  DateTime: 'string',
  ID: 'string',
  Int64: { input: 'number | string', output: 'number' },
  JSON: { input: 'unknown', output: 'any' },
};

const CONFIG = {
  scalars: SCALARS,
  useTypeImports: true,
  enumsAsTypes: true,
  onlyOperationTypes: true,
  avoidOptionals: { field: true },
  documentMode: 'string',
  documentVariableSuffix: '',
  fragmentVariableSuffix: 'Fragment',
  dedupeFragments: true,
  pureMagicComment: true,
  skipTypename: true,
};

const text = readFileSync(join(here, '../../schema.graphql'), 'utf8');
const names = readdirSync(operations).filter((name) => name.endsWith('.graphql'));
const documents = names.sort().map((name) => {
  const location = join(operations, name);
  return { location, document: parse(readFileSync(location, 'utf8')) };
});
const plugins = { typescript, operations: operationTypes, documents: documentNodes };
const made = await codegen({
  filename: target,
  schema: parse(text),
  documents,
  config: CONFIG,
  plugins: Object.keys(plugins).map((name) => ({ [name]: {} })),
  pluginMap: plugins,
});
const header = '/** Made by generate.mjs from schema.graphql and the operations; not to be edited. */\n';
// A kind of which nothing is asked has no fields; the record that it is made is one of everything.
const told = made.replaceAll('Record<PropertyKey, never>', '{ __typename?: never }');
writeIfOther(target, `${header}${told}\n${keyed()}`);
writeIfOther(join(here, 'schema.graphql'), text);

/** The operations whose input takes an idempotency key: those that may be sent again under one. */
function keyed() {
  const schema = buildSchema(text);
  const mutations = schema.getMutationType().getFields();
  const definitions = documents.flatMap(({ document }) => document.definitions);
  const isKeyed = ({ kind, operation, selectionSet }) => {
    if (kind !== Kind.OPERATION_DEFINITION || operation !== 'mutation') return false;
    const input = mutations[selectionSet.selections[0].name.value].args[0].type.ofType;
    return 'idempotencyKey' in input.getFields();
  };
  const names = definitions.filter(isKeyed).map(({ name }) => `'${name.value}'`);
  return `export const KEYED: ReadonlySet<string> = new Set([${names.join(', ')}]);\n`;
}

/** A file that is as it should be keeps its time, so that nothing is built again for it. */
function writeIfOther(path, content) {
  if (existsSync(path) && readFileSync(path, 'utf8') === content) return;
  writeFileSync(path, content);
}
