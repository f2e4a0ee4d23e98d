/**
 * The live connection to one work, over the y-websocket protocol.
 *
 * Invariants
 * - What is typed without a connection stays in the document and is sent when the connection is back.
 * - A refusal of the server (no permission, no such work) is final until the work is opened again.
 */
import { useEffect, useState, useSyncExternalStore } from 'react';
import { WebsocketProvider } from 'y-websocket';
import * as Y from 'yjs';

export type ConnectionState = 'connecting' | 'connected' | 'disconnected' | 'refused';

/** A document and its connection. */
export interface Live {
  document: Y.Doc;
  provider: WebsocketProvider;
}

/** Somebody who has the work open. */
export interface Present {
  client: number;
  isSelf: boolean;
  isAgent: boolean;
  name: string | null;
  nodeId: string | null;
  /** Where the pointer is on a canvas. */
  pointer: { x: number; y: number } | null;
}

/** Opens a work, and closes it when the component goes. */
export function useLive(workId: string, token: string): { live: Live | null; state: ConnectionState } {
  const [live, setLive] = useState<Live | null>(null);
  const [state, setState] = useState<ConnectionState>('connecting');
  useEffect(() => {
    const document = new Y.Doc();
    const provider = new WebsocketProvider(address(), workId, document, {
      params: { token },
      // Through the server only: it decides who may see what, also between two tabs.
      disableBc: true,
    });
    let wasConnected = false;
    provider.on('sync', (isSynced) => {
      if (!isSynced) return;
      wasConnected = true;
      setState('connected');
    });
    provider.on('status', ({ status }) => {
      if (status === 'disconnected') setState(wasConnected ? 'disconnected' : 'connecting');
    });
    provider.on('closed', () => setState('refused'));
    const unwatch = warnOfUnsent(document, provider);
    setLive({ document, provider });
    return () => {
      unwatch();
      setLive(null);
      setState('connecting');
      provider.destroy();
      document.destroy();
    };
  }, [workId, token]);
  return { live, state };
}

/** Asks before the tab is closed over something that was typed without a connection and has not been sent yet. */
function warnOfUnsent(document: Y.Doc, provider: WebsocketProvider): () => void {
  let hasUnsent = false;
  document.on('update', (_update: Uint8Array, origin: unknown) => {
    if (origin !== provider && !provider.synced) hasUnsent = true;
  });
  provider.on('sync', (isSynced) => {
    if (isSynced) hasUnsent = false;
  });
  const ask = (event: BeforeUnloadEvent): void => {
    if (hasUnsent) event.preventDefault();
  };
  addEventListener('beforeunload', ask);
  return () => removeEventListener('beforeunload', ask);
}

function address(): string {
  return `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/sync`;
}

/** Draws again whenever maps inside `nodes` change; text that is typed draws itself. */
export function useStructure(document: Y.Doc): void {
  const [store] = useState(() => structureOf(document));
  useSyncExternalStore(store.subscribe, store.count);
}

function structureOf(document: Y.Doc) {
  let changes = 0;
  return {
    subscribe: (tell: () => void) => {
      const observe = (events: Y.YEvent<Y.AbstractType<unknown>>[]): void => {
        if (!events.some((event) => event.target instanceof Y.Map)) return;
        changes += 1;
        tell();
      };
      const nodes = document.getMap('nodes');
      nodes.observeDeep(observe);
      return () => nodes.unobserveDeep(observe);
    },
    count: () => changes,
  };
}

/** Everybody who has the work open, oneself first. */
export function usePresence({ provider }: Live): Present[] {
  const [present, setPresent] = useState<Present[]>([]);
  useEffect(() => {
    const { awareness } = provider;
    const read = (): void => {
      const states = [...awareness.getStates()].map(([client, state]) => ({
        client,
        isSelf: client === awareness.clientID,
        ...shownBy(state as Shown),
      }));
      setPresent(states.sort((one, other) => Number(other.isSelf) - Number(one.isSelf) || one.client - other.client));
    };
    awareness.on('change', read);
    read();
    return () => awareness.off('change', read);
  }, [provider]);
  return present;
}

interface Shown {
  user?: { name?: unknown; id?: unknown };
  nodeId?: unknown;
  pointer?: { x?: unknown; y?: unknown } | null;
}

function shownBy({ user, nodeId, pointer }: Shown): Omit<Present, 'client' | 'isSelf'> {
  const { x, y } = pointer ?? {};
  return {
    // The server sets the id: a person's, or that of the task for which the agent is there.
    isAgent: typeof user?.id === 'string' && user.id.startsWith('task_'),
    name: text(user?.name),
    nodeId: text(nodeId),
    pointer: typeof x === 'number' && typeof y === 'number' ? { x, y } : null,
  };
}

/** Tells the others who one is and which node one is at. */
export function announce({ provider }: Live, name: string, nodeId: string | null): void {
  provider.awareness.setLocalStateField('user', { name });
  provider.awareness.setLocalStateField('nodeId', nodeId);
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
