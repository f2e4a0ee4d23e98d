/**
 * The live connection to one work, over the Hocuspocus protocol.
 *
 * Invariants
 * - What is typed without a connection stays in the document and is sent when the connection is back.
 * - A refusal of the server (no permission, no such work) is final until the work is opened again.
 */
import { HocuspocusProvider, HocuspocusProviderWebsocket, type onStatusParameters } from '@hocuspocus/provider';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { Awareness } from 'y-protocols/awareness';
import * as Y from 'yjs';

export type ConnectionState = 'connecting' | 'connected' | 'saving' | 'disconnected' | 'refused';

/** How a lost server is looked for: soon, and never given up. */
const PATIENCE = { delay: 250, factor: 1.6, minDelay: 200, maxDelay: 2_000, maxAttempts: 0 };

/** A document and its connection. */
export interface Live {
  document: Y.Doc;
  awareness: Awareness;
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
    const awareness = new Awareness(document);
    const socket = new HocuspocusProviderWebsocket({ url: address(), ...PATIENCE });
    // The token goes inside the connection, not in its address, which logs and error messages would show.
    const provider = new HocuspocusProvider({ websocketProvider: socket, name: workId, document, awareness, token });
    let hasContent = false;
    let isLost = false;
    const judge = (): void => {
      if (!hasContent) return;
      setState(isLost ? 'disconnected' : provider.hasUnsyncedChanges ? 'saving' : 'connected');
    };
    provider.on('synced', () => {
      hasContent = true;
      judge();
    });
    provider.on('status', ({ status }: onStatusParameters) => {
      // Between two attempts it is as lost as during one.
      isLost = String(status) !== 'connected';
      judge();
    });
    provider.on('unsyncedChanges', judge);
    provider.on('authenticationFailed', () => {
      setState('refused');
      socket.destroy();
    });
    provider.attach();
    const unwatch = warnOfUnsent(provider);
    setLive({ document, awareness });
    return () => {
      unwatch();
      setLive(null);
      setState('connecting');
      provider.destroy();
      socket.destroy();
      awareness.destroy();
      document.destroy();
    };
  }, [workId, token]);
  return { live, state };
}

/** Asks before the tab is closed over something that the server does not have yet. */
function warnOfUnsent(provider: HocuspocusProvider): () => void {
  const ask = (event: BeforeUnloadEvent): void => {
    if (provider.hasUnsyncedChanges && !provider.isSynced) event.preventDefault();
  };
  addEventListener('beforeunload', ask);
  return () => removeEventListener('beforeunload', ask);
}

function address(): string {
  return `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/collab`;
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
export function usePresence({ awareness }: Live): Present[] {
  const [present, setPresent] = useState<Present[]>([]);
  useEffect(() => {
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
  }, [awareness]);
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
export function announce({ awareness }: Live, name: string, nodeId: string | null): void {
  awareness.setLocalStateField('user', { name });
  awareness.setLocalStateField('nodeId', nodeId);
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
