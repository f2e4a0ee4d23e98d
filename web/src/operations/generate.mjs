/**
 * Writes `generated.ts`: for each operation in the `.graphql` files beside this one its text, and the types of what goes
 * in and what comes out, from the printed schema of the server.
 *
 * Invariants
 * - An operation that does not fit the schema ends this with what is wrong, so no build and no check can pass with one.
 * - What is written is not kept in the repository: it can not be older than the schema.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { codegen } from '@graphql-codegen/core';
import * as typescript from '@graphql-codegen/typescript';
import * as operationTypes from '@graphql-codegen/typescript-operations';
import { buildSchema, Kind, parse, print, validate, visit } from 'graphql';

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, 'generated.ts');

/** How scalars travel in JSON. */
const SCALARS = {
  Bytes: 'string',
  Cursor: 'string',
  DateTime: 'string',
  ID: 'string',
  Int64: 'number | string',
  JSON: 'unknown',
};
const CONFIG = { scalars: SCALARS, useTypeImports: true, enumsAsTypes: true, skipTypename: true, onlyOperationTypes: true, avoidOptionals: { field: true } };

export async function generate() {
  const text = readFileSync(join(here, '../../../schema.graphql'), 'utf8');
  const schema = buildSchema(text);
  const files = readdirSync(here).filter((name) => name.endsWith('.graphql')).sort();
  const documents = files.map((name) => ({ location: name, document: parse(readFileSync(join(here, name), 'utf8')) }));
  const all = { kind: Kind.DOCUMENT, definitions: documents.flatMap(({ document }) => document.definitions) };
  const faults = validate(schema, all).filter(({ message }) => !message.startsWith('Fragment "'));
  if (faults.length > 0) throw new Error(faults.map((fault) => `${fault.message}`).join('\n'));
  const types = await codegen({
    filename: target,
    schema: parse(text),
    documents,
    config: CONFIG,
    plugins: [{ typescript: {} }, { operations: {} }],
    pluginMap: { typescript, operations: operationTypes },
  });
  const header = '/** Made by generate.mjs from schema.graphql and the operations beside it; not to be edited. */\n';
  const lead = 'import type { Operation } from "../api/operation";\n';
  // What an operation asks nothing of is no record of everything: its kind is told apart by its fields.
  const told = types.replaceAll('Record<PropertyKey, never>', '{ __other?: never }');
  writeIfNew(`${header}${lead}${told}\n${texts(all)}`);
}

/** The operations as constants: each its own text and the fragments that it uses. */
function texts(all) {
  const fragments = new Map();
  for (const each of all.definitions) if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each);
  const operations = all.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
  return operations.map((operation) => constant(operation, used(operation, fragments))).join('\n');
}

function constant(operation, parts) {
  const name = operation.name.value;
  const kind = operation.operation[0].toUpperCase() + operation.operation.slice(1);
  const text = [operation, ...parts].map(print).join('\n').replace(/\s+/g, ' ');
  return `export const ${name} = ${JSON.stringify(text)} as Operation<${name}${kind}, ${name}${kind}Variables>;`;
}

function used(definition, fragments, found = new Set()) {
  visit(definition, {
    FragmentSpread({ name }) {
      const fragment = fragments.get(name.value);
      if (!fragment || found.has(fragment)) return;
      found.add(fragment);
      used(fragment, fragments, found);
    },
  });
  return found;
}

function writeIfNew(text) {
  try {
    if (readFileSync(target, 'utf8') === text) return;
  } catch (reason) {
    if (reason.code !== 'ENOENT') throw reason;
  }
  writeFileSync(target, text);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await generate();
