/** Everything that is remembered and a person may see, read to its end. */
import type { Api } from '../api/client';
import { readPages } from '../api/pages';
import { Memories } from '../operations/generated';
import type { Memory } from './reach';

/** As many as one question may cost. */
export const PAGE = 20;

export async function readAll(api: Api, workspaceId: string): Promise<Memory[]> {
  const ask = async (after: string | null) =>
    (await api.run(Memories, { id: workspaceId, states: null, scopes: null, first: PAGE, after })).workspace?.memories;
  return (await readPages(ask, Number.POSITIVE_INFINITY))?.nodes ?? [];
}
