/**
 * Where the person is, in the address's fragment, so that going back, reloading and sharing a link work.
 *
 * `#/workspace`, then nothing (the conversation), `tasks`, `works`, `people`, a task, a work, or a task with a work beside it.
 */
import { useCallback, useEffect, useState } from 'react';

export type Page = 'talk' | 'tasks' | 'works' | 'people';

export interface Place {
  workspaceId: string | null;
  page: Page;
  taskId: string | null;
  workId: string | null;
}

const PAGES: readonly string[] = ['tasks', 'works', 'people'] satisfies Page[];

export function readPlace(hash: string): Place {
  const [, workspaceId, ...rest] = hash.split('/').filter((part, index) => index === 0 || part !== '');
  const place: Place = { workspaceId: workspaceId ?? null, page: 'talk', taskId: null, workId: null };
  for (const part of rest) {
    if (part.startsWith('task_')) place.taskId = part;
    else if (part.startsWith('work_')) place.workId = part;
    else if (PAGES.includes(part)) place.page = part as Page;
  }
  return place;
}

export function writePlace({ workspaceId, page, taskId, workId }: Place): string {
  const named = taskId || workId ? null : page === 'talk' ? null : page;
  return ['#', workspaceId, named, taskId, workId].filter((part) => part !== null).join('/');
}

/** Part of a place: what is left out is not there. */
export type Target = Partial<Omit<Place, 'workspaceId'>>;

/** The address of a place in a workspace. */
export function linkTo(workspaceId: string, target: Target = {}): string {
  return writePlace({ workspaceId, page: 'talk', taskId: null, workId: null, ...target });
}

export function usePlace(): [Place, (hash: string) => void] {
  const [place, setPlace] = useState(() => readPlace(location.hash));
  useEffect(() => {
    const read = (): void => setPlace(readPlace(location.hash));
    addEventListener('hashchange', read);
    return () => removeEventListener('hashchange', read);
  }, []);
  const go = useCallback((hash: string) => {
    location.hash = hash;
  }, []);
  return [place, go];
}
