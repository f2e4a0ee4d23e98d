/**
 * The canvas of a flow: React Flow over the shared document, with the pointers of others on it.
 *
 * Invariants
 * - While a node is dragged its place is this page's; others see it a few times a second, and where it came to lie at the end.
 * - What others do in the meantime is drawn at once, except to what is being dragged here.
 */
import {
  applyEdgeChanges,
  applyNodeChanges,
  Background,
  Controls,
  MiniMap,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  ViewportPortal,
  type Connection,
  type Edge,
  type EdgeChange,
  type Node,
  type NodeChange,
} from '@xyflow/react';
import '@xyflow/react/dist/style.css';
import { useCallback, useEffect, useMemo, useRef, useState, type PointerEvent } from 'react';
import * as Y from 'yjs';

import { useStudio } from '../studio';
import { addNode, connect, edgesOf, freePlace, moveNodes, nodesOf, OWN_MOVE, readEdges, readNodes, remove } from './flow';
import { FlowDetails, PortLegend } from './flow_details';
import { FlowNodeView, RunsContext, type FlowNodeData } from './flow_node';
import { announce, usePresence, type Live } from './live';
import { endsOf, fits, keyOfNamed, namedAt, namedPorts, portsOf, type Ports } from './ports';
import { colourOf } from './presence';
import { useRuns } from './runs';

/** How often others are told of a drag and of the pointer. */
const TELL_MS = 60;
/** From so many nodes on only what is in view is drawn. */
const MANY = 150;

/** How near the whole flow is shown at first. */
const FIT = { padding: 0.06, maxZoom: 1.1 };

const NODE_TYPES = { work: FlowNodeView };

type CanvasNode = Node<FlowNodeData, 'work'>;

interface Properties {
  workId: string;
  live: Live;
  isReadOnly: boolean;
}

export function FlowCanvas(properties: Properties) {
  return (
    <ReactFlowProvider>
      <Canvas {...properties} />
    </ReactFlowProvider>
  );
}

function Canvas({ workId, live, isReadOnly }: Properties) {
  const { say, viewer } = useStudio();
  const runs = useRuns(workId);
  const { document } = live;
  const { nodes, edges, setNodes, setEdges, portsAt } = useFlow(live);
  const flow = useReactFlow();
  const move = useThrottle();
  const point = useThrottle();
  const [selected, setSelected] = useState<string | null>(null);
  const changed = useCallback(
    (changes: NodeChange<CanvasNode>[]) => {
      setNodes((before) => applyNodeChanges(changes, before));
      const moved = changes.flatMap((change) =>
        change.type === 'position' && change.position ? [{ id: change.id, position: change.position, isOver: !change.dragging }] : [],
      );
      if (moved.length === 0 || isReadOnly) return;
      if (moved.some(({ isOver }) => isOver)) move.now(() => moveNodes(document, moved));
      else move.soon(() => moveNodes(document, moved));
    },
    [document, isReadOnly, setNodes, move],
  );
  const edgesChanged = useCallback(
    (changes: EdgeChange[]) => setEdges((before) => applyEdgeChanges(changes, before)),
    [setEdges],
  );
  const connected = useCallback(
    ({ source, target, sourceHandle, targetHandle }: Connection) => {
      const [from, into] = [portsAt(source), portsAt(target)];
      connect(document, { source, target, ...namedPorts(sourceHandle ?? '', targetHandle ?? '', from, into) });
    },
    [document, portsAt],
  );
  // While a connection is drawn, only ports that take what comes are offered.
  const isFitting = useCallback(
    ({ source, target, sourceHandle, targetHandle }: Connection | Edge) => {
      const from = portsAt(source).outputs.find(({ id }) => id === sourceHandle);
      const into = portsAt(target).inputs.find(({ id }) => id === targetHandle);
      return source !== target && from !== undefined && into !== undefined && fits(from.kind, into.kind);
    },
    [portsAt],
  );
  const removed = useCallback(
    ({ nodes: gone, edges: cut }: { nodes: CanvasNode[]; edges: Edge[] }) =>
      remove(
        document,
        gone.map(({ id }) => id),
        cut.map(({ id }) => id),
      ),
    [document],
  );
  const pointed = (event: PointerEvent): void => {
    const place = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    point.soon(() => live.awareness.setLocalStateField('pointer', place));
  };
  const left = (): void => point.now(() => live.awareness.setLocalStateField('pointer', null));
  const add = (): void => {
    const box = globalThis.document.querySelector('.flow')?.getBoundingClientRect();
    const middle = { x: (box?.left ?? 0) + (box?.width ?? 0) / 2, y: (box?.top ?? 0) + (box?.height ?? 0) / 2 };
    const position = freePlace(nodes.map((node) => node.position), flow.screenToFlowPosition(middle));
    const id = addNode(document, position);
    // It is what the person is at now, and nothing else is.
    const data = { type: 'prompt', title: '', description: '', runState: null, assetId: null, ports: '' };
    setNodes((before) => [
      ...before.map((node) => (node.selected ? { ...node, selected: false } : node)),
      { id, type: 'work', position, data, selected: true },
    ]);
    setSelected(id);
  };
  useEffect(() => announce(live, viewer.name, selected), [live, viewer.name, selected]);
  return (
    <RunsContext value={runs}>
      <div className="flow-place">
        {!isReadOnly && (
          <div className="row">
            <button type="button" className="primary" onClick={add}>
              {say('addNode')}
            </button>
            <span className="quiet">{say('flowHint')}</span>
          </div>
        )}
        <div className="flow-stage">
          <div className="flow" onPointerMove={pointed} onPointerLeave={left}>
            <ReactFlow<CanvasNode>
              nodes={nodes}
              edges={edges}
              nodeTypes={NODE_TYPES}
              onNodesChange={changed}
              onEdgesChange={edgesChanged}
              onConnect={connected}
              isValidConnection={isFitting}
              onDelete={removed}
              onSelectionChange={({ nodes: chosen }) => setSelected(chosen.length === 1 ? (chosen[0]?.id ?? null) : null)}
              nodesDraggable={!isReadOnly}
              nodesConnectable={!isReadOnly}
              deleteKeyCode={isReadOnly ? null : ['Delete', 'Backspace']}
              onlyRenderVisibleElements={nodes.length > MANY}
              minZoom={0.1}
              fitView
              fitViewOptions={FIT}
              aria-label={say('FLOW')}
            >
              <Background />
              <Controls showInteractive={false} />
              {nodes.length > 12 && <MiniMap pannable zoomable />}
              <Pointers live={live} />
            </ReactFlow>
          </div>
          <aside className="flow-about" aria-label={say('aboutFlow')}>
            {selected ? (
              <FlowDetails
                live={live}
                nodeId={selected}
                portsAt={portsAt}
                edges={edges}
                titles={new Map(nodes.map(({ id, data }) => [id, data.title || say('node')]))}
                isReadOnly={isReadOnly}
              />
            ) : (
              <>
                <p>{say(isReadOnly ? 'chooseNode' : 'chooseNodeToEdit')}</p>
                <PortLegend />
              </>
            )}
          </aside>
        </div>
      </div>
    </RunsContext>
  );
}

/** The document as React Flow wants it; what is selected and measured here stays through the changes of others. */
function useFlow({ document }: Live) {
  const [nodes, setNodes] = useState<CanvasNode[]>([]);
  const [edges, setEdges] = useState<Edge[]>([]);
  const ports = useRef(new Map<string, Ports>());
  const portsAt = useCallback((id: string): Ports => ports.current.get(id) ?? portsOf(''), []);
  useEffect(() => {
    const read = (): void => {
      const [readN, readE] = [readNodes(document), readEdges(document)];
      const named = namedAt(readE);
      ports.current = new Map(readN.map(({ id, type }) => [id, portsOf(type, named.get(id))]));
      setNodes((before) => {
        const known = new Map(before.map((node) => [node.id, node]));
        return readN.map(({ id, position, ...fields }) => {
          const data = { ...fields, ports: keyOfNamed(named.get(id)) };
          const own = known.get(id);
          const place = own?.dragging ? own.position : position;
          // What did not change stays the same object, and is not drawn again.
          if (own && own.position.x === place.x && own.position.y === place.y && isSame(own.data, data)) return own;
          return { ...own, id, type: 'work', position: place, data };
        });
      });
      setEdges((before) => {
        const known = new Map(before.map((edge) => [edge.id, edge]));
        return readE.map((edge) => {
          const { id, source, target } = edge;
          const own = known.get(id);
          const { from, into, kind } = endsOf(edge, portsAt(source), portsAt(target));
          const ends = { source, target, sourceHandle: from, targetHandle: into, className: `carries-${kind}` };
          return own && isSame({ ...own }, { ...own, ...ends }) ? own : { ...own, id, ...ends };
        });
      });
    };
    // Several changes in one frame are drawn once.
    let frame = 0;
    const soon = (_events: unknown, { origin }: Y.Transaction): void => {
      if (origin === OWN_MOVE) return;
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        read();
      });
    };
    read();
    const parts: Y.Map<unknown>[] = [nodesOf(document), edgesOf(document)];
    for (const part of parts) part.observeDeep(soon);
    return () => {
      cancelAnimationFrame(frame);
      for (const part of parts) part.unobserveDeep(soon);
    };
  }, [document, portsAt]);
  return { nodes, edges, setNodes, setEdges, portsAt };
}

function isSame(one: Record<string, unknown>, other: Record<string, unknown>): boolean {
  return Object.keys(other).every((name) => one[name] === other[name]);
}

function Pointers({ live }: { live: Live }) {
  const { say } = useStudio();
  const others = usePresence(live).filter(({ isSelf, pointer }) => !isSelf && pointer);
  return (
    <ViewportPortal>
      {others.map(({ client, name, pointer }) => (
        <div
          key={client}
          className={`pointer ${colourOf(client)}`}
          style={{ transform: `translate(${pointer?.x ?? 0}px, ${pointer?.y ?? 0}px)` }}
        >
          <span>{name ?? say('somebody')}</span>
        </div>
      ))}
    </ViewportPortal>
  );
}

interface Throttle {
  /** Runs it in a while; of several only the newest. */
  soon: (run: () => void) => void;
  /** Runs it at once, and nothing that was to run before. */
  now: (run: () => void) => void;
}

function useThrottle(): Throttle {
  const waiting = useRef<{ run: (() => void) | null; timer: ReturnType<typeof setTimeout> | null }>({ run: null, timer: null });
  useEffect(() => {
    const own = waiting.current;
    return () => {
      if (own.timer !== null) clearTimeout(own.timer);
      own.timer = null;
    };
  }, []);
  return useMemo(
    () => ({
      soon: (run) => {
        const own = waiting.current;
        own.run = run;
        own.timer ??= setTimeout(() => {
          own.timer = null;
          own.run?.();
        }, TELL_MS);
      },
      now: (run) => {
        waiting.current.run = null;
        run();
      },
    }),
    [],
  );
}
