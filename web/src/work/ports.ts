/**
 * The ports of a flow's nodes: what each type takes in and gives out, and what fits together.
 *
 * Invariants
 * - A type that is not known here takes in and gives out anything, so that every flow can be drawn and connected.
 * - An edge names a port only where its node has several; where it names none, the first port that fits is meant.
 * - A port that an edge names and the type does not have is drawn all the same.
 */
import type { FlowEdge } from './flow';

export const PORT_KINDS = ['text', 'image', 'reference', 'video', 'audio', 'model', 'any'] as const;
export type PortKind = (typeof PORT_KINDS)[number];

export interface Port {
  id: string;
  kind: PortKind;
}

export interface Ports {
  inputs: readonly Port[];
  outputs: readonly Port[];
}

const port = (id: string, kind: PortKind = id as PortKind): Port => ({ id, kind });
const PROMPT = port('prompt', 'text');
const ANY = port('any');

const TYPES = {
  input: { inputs: [], outputs: [ANY] },
  text: { inputs: [PROMPT], outputs: [port('text')] },
  collection: { inputs: [], outputs: [port('reference')] },
  prompt: { inputs: [port('text'), port('reference')], outputs: [PROMPT] },
  image: { inputs: [PROMPT, port('reference')], outputs: [port('image')] },
  edit: { inputs: [port('image'), PROMPT], outputs: [port('image')] },
  upscale: { inputs: [port('image')], outputs: [port('image')] },
  video: { inputs: [PROMPT, port('image')], outputs: [port('video')] },
  audio: { inputs: [PROMPT], outputs: [port('audio')] },
  model: { inputs: [PROMPT, port('image')], outputs: [port('model')] },
  check: { inputs: [ANY], outputs: [ANY] },
  output: { inputs: [ANY], outputs: [] },
} satisfies Record<string, Ports>;

export type NodeType = keyof typeof TYPES;
/** The types that a person can choose. */
export const NODE_TYPES = Object.keys(TYPES) as NodeType[];

const UNKNOWN: Ports = { inputs: [ANY], outputs: [ANY] };

export function isNodeType(type: string): type is NodeType {
  return Object.hasOwn(TYPES, type);
}

/** The ports of a type, and those that edges name besides. */
export function portsOf(type: string, named: { inputs: Iterable<string>; outputs: Iterable<string> } = { inputs: [], outputs: [] }): Ports {
  const own: Ports = isNodeType(type) ? TYPES[type] : UNKNOWN;
  return { inputs: withNamed(own.inputs, named.inputs), outputs: withNamed(own.outputs, named.outputs) };
}

function withNamed(own: readonly Port[], named: Iterable<string>): readonly Port[] {
  const others = [...new Set(named)].filter((id) => !own.some((each) => each.id === id));
  return others.length === 0 ? own : [...own, ...others.map((id) => port(id, 'any'))];
}

/** Whether what comes out of one port may go into another. */
export function fits(from: PortKind, into: PortKind): boolean {
  return from === into || from === 'any' || into === 'any' || (from === 'image' && into === 'reference') || (from === 'reference' && into === 'image');
}

/** Between which ports an edge runs, as it is drawn, and what it carries. */
export function endsOf(
  edge: Pick<FlowEdge, 'sourcePort' | 'targetPort'>,
  source: Ports,
  target: Ports,
): { from: string; into: string; kind: PortKind } {
  const into = target.inputs.find(({ id }) => id === edge.targetPort);
  const from =
    source.outputs.find(({ id }) => id === edge.sourcePort) ??
    source.outputs.find(({ kind }) => into && fits(kind, into.kind)) ??
    source.outputs[0] ??
    ANY;
  const found = into ?? target.inputs.find(({ kind }) => fits(from.kind, kind)) ?? target.inputs[0] ?? ANY;
  return { from: from.id, into: found.id, kind: from.kind };
}

export interface Named {
  inputs: Set<string>;
  outputs: Set<string>;
}

/** The ports that edges name, by node. */
export function namedAt(edges: readonly FlowEdge[]): Map<string, Named> {
  const found = new Map<string, Named>();
  const at = (id: string): Named => {
    const named = found.get(id) ?? { inputs: new Set(), outputs: new Set() };
    found.set(id, named);
    return named;
  };
  for (const { source, target, sourcePort, targetPort } of edges) {
    if (sourcePort) at(source).outputs.add(sourcePort);
    if (targetPort) at(target).inputs.add(targetPort);
  }
  return found;
}

/** The same of one node as a text, by which it is told apart and from which it is read. */
export function keyOfNamed(named: Named | undefined): string {
  return named ? `${[...named.inputs].sort().join(' ')}|${[...named.outputs].sort().join(' ')}` : '';
}

export function namedOfKey(key: string): { inputs: string[]; outputs: string[] } {
  const [inputs = '', outputs = ''] = key.split('|');
  const names = (text: string): string[] => text.split(' ').filter((name) => name !== '');
  return { inputs: names(inputs), outputs: names(outputs) };
}

/** What an edge says of its ports: nothing where a node has but one. */
export function namedPorts(from: string, into: string, source: Ports, target: Ports): Pick<FlowEdge, 'sourcePort' | 'targetPort'> {
  return {
    sourcePort: source.outputs.length > 1 ? from : null,
    targetPort: target.inputs.length > 1 ? into : null,
  };
}
