/**
 * A flow's document: nodes as in a storyboard with `position` and `data`, edges in a Y.Map `edges`.
 *
 * Invariants
 * - Each thing that a person does is one transaction, hence one change.
 * - Removing a node removes its edges in the same change.
 * - What another editor stored that is no node or edge is left out, and left alone.
 */
import * as Y from 'yjs';

import { randomKey } from '../talk/outbox';
import { assetOf } from './asset_reference';

export interface Point {
  x: number;
  y: number;
}

export interface FlowNode {
  id: string;
  type: string;
  title: string;
  description: string;
  position: Point;
  runState: string | null;
  /** The asset that it shows. */
  assetId: string | null;
}

export interface FlowEdge {
  id: string;
  source: string;
  target: string;
  sourcePort: string | null;
  targetPort: string | null;
}

export const nodesOf = (document: Y.Doc): Y.Map<unknown> => document.getMap('nodes');
export const edgesOf = (document: Y.Doc): Y.Map<unknown> => document.getMap('edges');

/** Marks moves that were made on this page, which shows them already. */
export const OWN_MOVE = Symbol('own move');

/** Where nodes without a position are laid, in a row below the others. */
const STRAY_STEP = 220;

export function readNodes(document: Y.Doc): FlowNode[] {
  const found: FlowNode[] = [];
  let strays = 0;
  nodesOf(document).forEach((value, id) => {
    if (!(value instanceof Y.Map)) return;
    const position = pointOf(value.get('position')) ?? { x: STRAY_STEP * strays++, y: -STRAY_STEP };
    const data = plain(value.get('data'));
    found.push({
      id,
      type: text(value.get('type')),
      title: text(value.get('title')) || text(data['label']),
      description: text(value.get('description')),
      position,
      assetId: assetOf(value),
      runState: text(value.get('state')) || text(data['state']) || null,
    });
  });
  return found;
}

export function readEdges(document: Y.Doc): FlowEdge[] {
  const found: FlowEdge[] = [];
  const nodes = nodesOf(document);
  edgesOf(document).forEach((value, id) => {
    const fields = value instanceof Y.Map ? value.toJSON() : plain(value);
    const source = text(fields['source']);
    const target = text(fields['target']);
    // An end that is gone is not shown; the server removes such an edge by itself.
    if (!nodes.has(source) || !nodes.has(target)) return;
    found.push({
      id,
      source,
      target,
      sourcePort: text(fields['sourcePort']) || null,
      targetPort: text(fields['targetPort']) || null,
    });
  });
  return found;
}

/** How large a node is at most, where it matters that none lies on another. */
const ROOM = { x: 250, y: 160 };

/** A place near this one where a new node covers none of the others. */
export function freePlace(others: readonly Point[], wanted: Point): Point {
  const isFree = ({ x, y }: Point): boolean => others.every((other) => Math.abs(other.x - x) >= ROOM.x || Math.abs(other.y - y) >= ROOM.y);
  for (let ring = 0; ; ring += 1) {
    for (const [right, down] of [[0, ring], [ring, 0], [0, -ring], [ring, ring], [-ring, 0]] as const) {
      const place = { x: wanted.x + right * ROOM.x, y: wanted.y + down * ROOM.y };
      if (isFree(place)) return place;
    }
  }
}

export function addNode(document: Y.Doc, position: Point, type = 'prompt'): string {
  const id = `node_${randomKey()}`;
  document.transact(() => {
    const node = new Y.Map<unknown>();
    node.set('type', type);
    node.set('position', rounded(position));
    node.set('title', new Y.Text());
    node.set('description', new Y.Text());
    nodesOf(document).set(id, node);
  });
  return id;
}

export function moveNodes(document: Y.Doc, moved: { id: string; position: Point }[]): void {
  document.transact(() => {
    for (const { id, position } of moved) {
      const node = nodesOf(document).get(id);
      if (!(node instanceof Y.Map)) continue;
      const before = pointOf(node.get('position'));
      const after = rounded(position);
      if (before?.x !== after.x || before.y !== after.y) node.set('position', after);
    }
  }, OWN_MOVE);
}

export function connect(document: Y.Doc, ends: Omit<FlowEdge, 'id'>): void {
  const isThere = readEdges(document).some(
    (edge) =>
      edge.source === ends.source &&
      edge.target === ends.target &&
      edge.sourcePort === ends.sourcePort &&
      edge.targetPort === ends.targetPort,
  );
  if (isThere || ends.source === ends.target) return;
  document.transact(() => {
    const edge = new Y.Map<unknown>();
    edge.set('source', ends.source);
    edge.set('target', ends.target);
    if (ends.sourcePort) edge.set('sourcePort', ends.sourcePort);
    if (ends.targetPort) edge.set('targetPort', ends.targetPort);
    edgesOf(document).set(`edge_${randomKey()}`, edge);
  });
}

export function remove(document: Y.Doc, nodeIds: string[], edgeIds: string[]): void {
  document.transact(() => {
    const gone = new Set(nodeIds);
    const edges = edgesOf(document);
    for (const { id, source, target } of readEdges(document)) if (gone.has(source) || gone.has(target)) edges.delete(id);
    for (const id of edgeIds) edges.delete(id);
    for (const id of gone) nodesOf(document).delete(id);
  });
}

function pointOf(value: unknown): Point | null {
  const { x, y } = plain(value);
  return typeof x === 'number' && typeof y === 'number' && Number.isFinite(x) && Number.isFinite(y) ? { x, y } : null;
}

function plain(value: unknown): Record<string, unknown> {
  if (value instanceof Y.Map) return value.toJSON();
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function text(value: unknown): string {
  return typeof value === 'string' || value instanceof Y.Text ? value.toString() : '';
}

function rounded({ x, y }: Point): Point {
  return { x: Math.round(x), y: Math.round(y) };
}
