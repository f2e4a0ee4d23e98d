/** What is looked at before a file is sent, and what kinds of assets are shown how. */
import { expect, test } from 'vitest';

import { inLanguage } from '../src/media/guides_page';
import { namesOf } from '../src/media/abilities_page';
import { faultOf, filesOf } from '../src/talk/files';
import { typeOf } from '../src/talk/upload';
import { isModel } from '../src/work/asset_view';

test('empty, huge and overlong files are turned away before they are sent', () => {
  expect(faultOf({ size: 0, name: 'a.png' })).toBe('fileEmpty');
  expect(faultOf({ size: 2 ** 31, name: 'a.mov' })).toBe('fileTooLarge');
  expect(faultOf({ size: 1, name: 'a'.repeat(201) })).toBe('fileNameTooLong');
  expect(faultOf({ size: 2 ** 31 - 1, name: 'a.mov' })).toBeNull();
});

test('folders are told from files', () => {
  const files = [{ name: 'frames' }, { name: 'a.png' }] as File[];
  const items = files.map(({ name }) => ({ kind: 'file', webkitGetAsEntry: () => ({ name, isDirectory: name === 'frames' }) }));
  const found = filesOf({ files, items } as unknown as DataTransfer);
  expect(found.folders).toEqual(['frames']);
  expect(found.files.map(({ name }) => name)).toEqual(['a.png']);
});

test('a type that the server can not check is sent as the one that promises nothing', () => {
  expect(typeOf({ type: 'image/png' })).toBe('image/png');
  expect(typeOf({ type: 'text/markdown; charset=utf-8' })).toBe('text/markdown');
  for (const type of ['', 'model/gltf-binary', 'image/x-raw', 'application/vnd.unknown']) expect(typeOf({ type })).toBe('application/octet-stream');
});

test('bodies are known by their type, or by their name where the type says nothing', () => {
  expect(isModel('model/gltf-binary', 'x')).toBe(true);
  expect(isModel('application/octet-stream', 'Lamp.GLB')).toBe(true);
  expect(isModel('application/octet-stream', 'notes.bin')).toBe(false);
  expect(isModel('image/png', 'a.glb')).toBe(false);
});

test('each guide is shown once, in the language or in what there is', () => {
  const guide = (name: string, language: string) => ({ name, language, title: `${name} ${language}`, markdown: '' });
  const shown = inLanguage([guide('flows', 'en'), guide('flows', 'ru'), guide('house', 'en')], 'ru');
  expect(shown.map(({ title }) => title)).toEqual(['flows ru', 'house en']);
});

test('what an ability takes is read from its schema, whatever that is', () => {
  expect(namesOf({ properties: { width: {}, title: {} } })).toEqual(['width', 'title']);
  for (const odd of [null, 'x', {}, { properties: 3 }]) expect(namesOf(odd)).toEqual([]);
});
