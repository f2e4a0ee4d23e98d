/**
 * What every part of the studio needs: the server, the person, and the words in the person's language.
 */
import { createContext, useCallback, useContext, useEffect, useState } from 'react';

import { ApiError, type Api } from './api';
import type { Language, Word } from './strings';

/** The person who signed in. */
export interface Viewer {
  id: string;
  name: string;
}

export interface Studio {
  api: Api;
  viewer: Viewer;
  language: Language;
  say: (word: Word) => string;
}

export const StudioContext = createContext<Studio | null>(null);

/** The studio that this component stands in. */
export function useStudio(): Studio {
  const studio = useContext(StudioContext);
  if (!studio) throw new Error('this part stands outside of a studio');
  return studio;
}

/** What a query answered so far. */
export interface Answer<T> {
  data: T | null;
  error: ApiError | null;
  reload: () => void;
}

/** Runs a query, again whenever its variables change or `reload` is called; what was shown stays until then. */
export function useQuery<T>(api: Api, query: string, variables: Record<string, unknown>): Answer<T> {
  const [state, setState] = useState<{ key: string; data: T | null; error: ApiError | null } | null>(null);
  const [round, setRound] = useState(0);
  const key = JSON.stringify([query, variables]);
  useEffect(() => {
    let isCurrent = true;
    const keep = (data: T | null, error: ApiError | null): void => {
      if (isCurrent) setState({ key, data, error });
    };
    api.run<T>(query, JSON.parse(key)[1] as Record<string, unknown>).then(
      (data) => keep(data, null),
      (reason: unknown) => keep(null, reason instanceof ApiError ? reason : new ApiError('UNKNOWN', String(reason))),
    );
    return () => {
      isCurrent = false;
    };
  }, [api, query, key, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const isCurrent = state?.key === key;
  return { data: isCurrent ? state.data : null, error: isCurrent ? state.error : null, reload };
}
