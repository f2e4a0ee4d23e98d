/**
 * What every part of the studio needs: the server, the person, the workspace, and the words in the person's language.
 */
import { createContext, useCallback, useContext, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';

import type { Api, WorkspaceEvent } from './api/client';
import { asApiError, type ApiError } from './api/errors';
import type { EventHub } from './api/events';
import type { Operation } from './api/operation';
import { Growing, type Grown } from './api/growing';
import { readPages, type Connection, type Direction, type Pages } from './api/pages';
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
  workspaceName: string;
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

/** Something that is asked once, and again only for another key or when a person says so. */
export function useAsked<T>(ask: () => Promise<T>, key: string): Kept<T> {
  const latest = useRef(ask);
  useEffect(() => {
    latest.current = ask;
  });
  // The key stands for what is asked.
  const reading = useMemo(() => (key === '' ? null : new Reading(() => latest.current())), [key]);
  useEffect(() => {
    reading?.open();
    reading?.refresh();
    return () => reading?.close();
  }, [reading]);
  const answer = useSyncExternalStore(reading?.subscribe ?? NEVER, reading?.current ?? NOTHING);
  return { ...(answer as Answer<T>), refresh: () => reading?.refresh() };
}

const UNKNOWN: Answer<never> = { data: null, error: null };
const NOTHING = (): Answer<never> => UNKNOWN;
const NEVER = () => () => undefined;

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

/** A list as far as it was read. */
export interface Listed<N> extends Pages<N> {
  /** Whether the next page is being read. */
  isReading: boolean;
}

export interface KeptPages<N> {
  /** Null until the first page is there, and where there is no such list. */
  list: Listed<N> | null;
  error: ApiError | null;
  refresh: () => void;
  /** Reads one page more. */
  more: () => void;
}

export interface PagesOptions<R, N> {
  /** Where the list stands in what is answered. */
  connection: (data: R) => Connection<N> | null | undefined;
  concerns: (event: WorkspaceEvent) => boolean;
  direction?: Direction;
}

/** A list read page by page by cursor, and kept up to date as far as it was read. */
export function useLivePages<R, V extends object, N>(
  operation: Operation<R, V>,
  variables: Omit<V, Direction>,
  { connection, concerns, direction = 'after' }: PagesOptions<R, N>,
): KeptPages<N> {
  const { api } = useStudio();
  const key = JSON.stringify(variables);
  const latest = useRef(connection);
  useEffect(() => {
    latest.current = connection;
  });
  const { reading, more, wanted } = useMemo(() => {
    const wanted = { count: 1 };
    const ask = async (cursor: string | null) =>
      latest.current(await api.run(operation, { ...JSON.parse(key), [direction]: cursor } as V));
    const reading = new Reading(() => readPages(ask, wanted.count, direction));
    const more = (): void => {
      wanted.count += 1;
      reading.refresh();
    };
    return { reading, more, wanted };
  }, [api, operation, key, direction]);
  useEffect(() => {
    reading.open();
    reading.refresh();
    return () => reading.close();
  }, [reading]);
  useEvents((event) => {
    if (concerns(event)) reading.refresh();
  });
  const { data, error } = useSyncExternalStore(reading.subscribe, reading.current);
  // Another filter does not empty the list first.
  const shown = useRef<Pages<N> | null>(null);
  if (data) shown.current = data;
  const pages = data ?? shown.current;
  const list = pages && { ...pages, isReading: data !== null && wanted.count > pages.count && pages.hasMore };
  return { list, error, refresh: reading.refresh, more };
}

export interface KeptGrowing<N> extends Grown<N> {
  read: () => void;
}

/** A list that only grows, read to its end, and on whenever an event says that it grew. */
export function useGrowing<R, V extends object, N>(
  operation: Operation<R, V>,
  variables: Omit<V, 'after'>,
  { connection, concerns }: Omit<PagesOptions<R, N>, 'direction'>,
): KeptGrowing<N> {
  const { api } = useStudio();
  const key = JSON.stringify(variables);
  const latest = useRef(connection);
  useEffect(() => {
    latest.current = connection;
  });
  const growing = useMemo(
    () =>
      new Growing<N>(async (after) => latest.current(await api.run(operation, { ...JSON.parse(key), after } as unknown as V))),
    [api, operation, key],
  );
  useEffect(() => {
    growing.open();
    growing.read();
    return () => growing.close();
  }, [growing]);
  useEvents((event) => {
    if (concerns(event)) growing.read();
  });
  return { ...useSyncExternalStore(growing.subscribe, growing.current), read: growing.read };
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
