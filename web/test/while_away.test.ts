/** Which nodes were touched while a page had no connection. */
import { expect, test } from 'vitest';
import * as Y from 'yjs';

import { touchedBy } from '../src/work/while_away';

test('a field, a text inside it, and a node that comes or goes all name the node', () => {
  const document = new Y.Doc();
  const nodes = document.getMap<Y.Map<unknown>>('nodes');
  const touched: string[] = [];
  nodes.set('a', new Y.Map<unknown>([['title', new Y.Text('one')]]));
  nodes.set('b', new Y.Map());
  nodes.observeDeep((events) => touched.push(...touchedBy(events)));
  (nodes.get('a')?.get('title') as Y.Text).insert(3, ' two');
  nodes.get('b')?.set('duration', 3);
  nodes.delete('b');
  expect(touched).toEqual(['a', 'b', 'b']);
});
