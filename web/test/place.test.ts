/** Addresses of places: what is written is read again. */
import { expect, test } from 'vitest';

import { linkTo, readPlace } from '../src/frame/place';

test('every place comes back from its address', () => {
  const nothing = { page: 'talk', taskId: null, workId: null, memoryId: null } as const;
  const places = [
    {},
    { page: 'tasks' as const },
    { page: 'people' as const },
    { page: 'budget' as const },
    { page: 'memory' as const },
    { page: 'memory' as const, memoryId: 'memory_1' },
    { taskId: 'task_1' },
    { workId: 'work_1' },
    { taskId: 'task_1', workId: 'work_1' },
  ];
  for (const place of places) {
    expect(readPlace(linkTo('workspace_1', place))).toEqual({ workspaceId: 'workspace_1', ...nothing, ...place });
  }
});

test('an address that says nothing, or something else, is the conversation', () => {
  expect(readPlace('')).toEqual({ workspaceId: null, page: 'talk', taskId: null, workId: null, memoryId: null });
  expect(readPlace('#/workspace_1/elsewhere')).toMatchObject({ workspaceId: 'workspace_1', page: 'talk', taskId: null });
});

test('a link to a work of an earlier studio still leads there', () => {
  expect(readPlace('#/workspace_1/work_2')).toMatchObject({ workId: 'work_2', taskId: null });
});
