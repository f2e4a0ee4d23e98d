/**
 * What every part of the studio needs: the server, the person, the workspace, and the words in the person's language.
 */
import { createContext, useCallback, useContext, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';

import type { Api, WorkspaceEvent } from './api/client';
import { asApiError, type ApiError } from './api/errors';
import type { EventHub } from './api/events';
import type { Operation } from './api/operation';
import { Reading, type Answer } from './api/reading';
import type { Language, Say } from './strings';

/** The person who signed in. */
export interface Viewer {
  id: string;
  name: string;
}

export interface Studio {
  api: Api;
  viewer: Viewer;
  language: Language;
  say: Say;
}

/** The workspace that is looked at. */
export interface Room {
  workspaceId: string;
  role: 'OWNER' | 'EDITOR' | 'VIEWER';
  isReadOnly: boolean;
  events: EventHub;
}

export const StudioContext = createContext<Studio | null>(null);
export const RoomContext = createContext<Room | null>(null);

/** The studio that this component stands in. */
export function useStudio(): Studio {
  const studio = useContext(StudioContext);
  if (!studio) throw new Error('this part stands outside of a studio');
  return studio;
}

/** The workspace that this component stands in. */
export function useRoom(): Room {
  const room = useContext(RoomContext);
  if (!room) throw new Error('this part stands outside of a workspace');
  return room;
}

/** Calls for each event of the workspace. */
export function useEvents(tell: (event: WorkspaceEvent) => void): void {
  const { events } = useRoom();
  const latest = useRef(tell);
  useEffect(() => {
    latest.current = tell;
  });
  useEffect(() => events.listen((event) => latest.current(event)), [events]);
}

export interface Kept<T> extends Answer<T> {
  refresh: () => void;
}

/** Runs a query, again whenever its variables change or `refresh` is called; what was shown stays until then. */
export function useQuery<R, V extends object>(operation: Operation<R, V>, variables: V): Kept<R> {
  const { api } = useStudio();
  const key = JSON.stringify(variables);
  const reading = useMemo(
    () => new Reading(() => api.run(operation, JSON.parse(key) as V)),
    [api, operation, key],
  );
  useEffect(() => {
    reading.open();
    reading.refresh();
    return () => reading.close();
  }, [reading]);
  const { data, error } = useSyncExternalStore(reading.subscribe, reading.current);
  // A longer page of the same list, or another filter, does not empty the list first.
  const shown = useRef<R | null>(null);
  if (data) shown.current = data;
  return { data: data ?? shown.current, error, refresh: reading.refresh };
}

/** The same, and again whenever an event happens that it may show. */
export function useLiveQuery<R, V extends object>(
  operation: Operation<R, V>,
  variables: V,
  concerns: (event: WorkspaceEvent) => boolean,
): Kept<R> {
  const kept = useQuery(operation, variables);
  useEvents((event) => {
    if (concerns(event)) kept.refresh();
  });
  return kept;
}

export interface Doing<A extends unknown[]> {
  run: (...values: A) => Promise<boolean>;
  isBusy: boolean;
  error: ApiError | null;
  forget: () => void;
}

/** Something that a person sets going: whether it is under way, and why it was refused. */
export function useDoing<A extends unknown[]>(act: (...values: A) => Promise<void>): Doing<A> {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const latest = useRef(act);
  useEffect(() => {
    latest.current = act;
  });
  const run = useCallback(async (...values: A): Promise<boolean> => {
    setBusy(true);
    setError(null);
    try {
      await latest.current(...values);
      return true;
    } catch (reason) {
      setError(asApiError(reason));
      return false;
    } finally {
      setBusy(false);
    }
  }, []);
  return { run, isBusy, error, forget: useCallback(() => setError(null), []) };
}
