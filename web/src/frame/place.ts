/**
 * Where the person is, in the address's fragment, so that going back, reloading and sharing a link work.
 *
 * `#/workspace`, then nothing (the conversation), the name of a page, a memory, a task, a work, or a task with a work beside it.
 */
import { useCallback, useEffect, useState } from 'react';

/** The pages about the workspace itself, in the order in which they stand. */
export const ROOM_PAGES = ['people', 'budget', 'jobs', 'usage', 'abilities', 'guides'] as const;
export type RoomPage = (typeof ROOM_PAGES)[number];
export type Page = 'talk' | 'tasks' | 'works' | 'memory' | RoomPage;

export interface Place {
  workspaceId: string | null;
  page: Page;
  taskId: string | null;
  workId: string | null;
  /** The memory that is pointed to. */
  memoryId: string | null;
}

const PAGES: readonly string[] = ['tasks', 'works', 'memory', ...ROOM_PAGES] satisfies Page[];

export function isRoomPage(page: Page): page is RoomPage {
  return (ROOM_PAGES as readonly string[]).includes(page);
}

export function readPlace(hash: string): Place {
  const [, workspaceId, ...rest] = hash.split('/').filter((part, index) => index === 0 || part !== '');
  const place: Place = { workspaceId: workspaceId ?? null, page: 'talk', taskId: null, workId: null, memoryId: null };
  for (const part of rest) {
    if (part.startsWith('task_')) place.taskId = part;
    else if (part.startsWith('work_')) place.workId = part;
    else if (part.startsWith('memory_')) [place.page, place.memoryId] = ['memory', part];
    else if (PAGES.includes(part)) place.page = part as Page;
  }
  return place;
}

export function writePlace({ workspaceId, page, taskId, workId, memoryId }: Place): string {
  const named = taskId || workId ? null : page === 'talk' ? null : page;
  return ['#', workspaceId, memoryId ? 'memory' : named, taskId, workId, memoryId].filter((part) => part !== null).join('/');
}

/** Part of a place: what is left out is not there. */
export type Target = Partial<Omit<Place, 'workspaceId'>>;

/** The address of a place in a workspace. */
export function linkTo(workspaceId: string, target: Target = {}): string {
  return writePlace({ workspaceId, page: 'talk', taskId: null, workId: null, memoryId: null, ...target });
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
