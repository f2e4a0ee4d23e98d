/** What a task is said to be doing, and what a person may do with it. */
import { expect, test } from 'vitest';

import { actionsFor } from '../src/tasks/task_actions';
import { detailOf, doingOf } from '../src/tasks/now';

const call = (tool: string, state: 'PENDING' | 'STARTED' | 'DONE', values: unknown = {}) => ({ tool, state, arguments: values });
const turn = (state: 'RUNNING' | 'COMPLETED', ...calls: ReturnType<typeof call>[]) => ({
  number: 2,
  state,
  steps: calls.length > 0 ? [{ number: 7, rationale: '', calls }] : [],
});

test('the call that was begun is what is being done', () => {
  const turns = [turn('RUNNING', call('reply', 'DONE'), call('edit_nodes', 'STARTED', { summary: 'Shot 3' }), call('ask', 'PENDING'))];
  expect(doingOf('RUNNING', turns)).toEqual({ tool: 'edit_nodes', detail: 'Shot 3', turn: 2, step: 7 });
});

test('between two calls it is the next one, and after the last the next step', () => {
  expect(doingOf('RUNNING', [turn('RUNNING', call('reply', 'DONE'), call('ask', 'PENDING'))])?.tool).toBe('ask');
  expect(doingOf('RUNNING', [turn('RUNNING', call('reply', 'DONE'))])).toEqual({ tool: null, detail: null, turn: 2, step: 8 });
});

test('a task that rests is at nothing', () => {
  for (const status of ['PAUSED', 'WAITING_FOR_PERSON', 'DELIVERED', 'STOPPED'] as const) {
    expect(doingOf(status, [turn('COMPLETED', call('reply', 'DONE'))])).toBeNull();
  }
});

test('arguments that are no object have no words', () => {
  for (const values of [null, 3, 'text', [], { title: 4 }]) expect(detailOf(values)).toBeNull();
});

test('a task offers what fits its status', () => {
  expect(actionsFor({ status: 'RUNNING', kind: 'PERSISTENT' })).toEqual(['pause', 'stop', 'merge', 'archive']);
  expect(actionsFor({ status: 'PAUSED', kind: 'PERSISTENT' })).toEqual(['resume', 'stop', 'merge', 'archive']);
  expect(actionsFor({ status: 'ARCHIVED', kind: 'LIGHTWEIGHT' })).toEqual(['resume', 'promote']);
  expect(actionsFor({ status: 'DELIVERED', kind: 'LIGHTWEIGHT' })).toEqual(['promote', 'merge', 'archive']);
});
