/** What a chosen node of a flow says, typed live; what it is connected with, and what it can be connected to. */
import type { Edge } from '@xyflow/react';
import * as Y from 'yjs';

import type { Word } from '../strings';
import { useStudio } from '../studio';
import { connect, nodesOf, remove } from './flow';
import { portName, typeName } from './flow_node';
import { useStructure, type Live } from './live';
import { fits, isNodeType, namedPorts, NODE_TYPES, PORT_KINDS, type Ports } from './ports';
import { SharedText } from './shared_text';

const FIELDS: { field: string; label: Word; rows: number }[] = [
  { field: 'title', label: 'title', rows: 1 },
  { field: 'description', label: 'description', rows: 2 },
  { field: 'prompt', label: 'prompt', rows: 3 },
];

interface Properties {
  live: Live;
  nodeId: string;
  portsAt: (id: string) => Ports;
  edges: readonly Edge[];
  /** What all nodes are called. */
  titles: ReadonlyMap<string, string>;
  isReadOnly: boolean;
}

export function FlowDetails({ live, nodeId, portsAt, edges, titles, isReadOnly }: Properties) {
  const { say } = useStudio();
  useStructure(live.document);
  const node = nodesOf(live.document).get(nodeId);
  if (!(node instanceof Y.Map)) return null;
  return (
    <section className="flow-details" aria-label={say('node')}>
      <NodeKind live={live} node={node} isReadOnly={isReadOnly} />
      {FIELDS.map(({ field, label, rows }) => (
        <Field key={`${nodeId} ${field}`} live={live} node={node} field={field} label={say(label)} rows={rows} isReadOnly={isReadOnly} />
      ))}
      <Connections live={live} nodeId={nodeId} edges={edges} titles={titles} isReadOnly={isReadOnly} />
      {!isReadOnly && titles.size > 1 && <ConnectTo live={live} nodeId={nodeId} portsAt={portsAt} titles={titles} />}
    </section>
  );
}

function NodeKind({ live, node, isReadOnly }: { live: Live; node: Y.Map<unknown>; isReadOnly: boolean }) {
  const { say } = useStudio();
  const type = String(node.get('type') ?? '');
  return (
    <label>
      {say('kind')}
      <select value={type} disabled={isReadOnly} onChange={(event) => live.document.transact(() => node.set('type', event.target.value))}>
        {!isNodeType(type) && <option value={type}>{typeName(type, say)}</option>}
        {NODE_TYPES.map((each) => (
          <option key={each} value={each}>
            {typeName(each, say)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Which colour stands for what. */
export function PortLegend() {
  const { say } = useStudio();
  return (
    <ul className="port-legend" aria-label={say('portColours')}>
      {PORT_KINDS.map((kind) => (
        <li key={kind} className={`carries-${kind}`}>
          <span className="swatch" aria-hidden="true" /> {portName(kind, say)}
        </li>
      ))}
    </ul>
  );
}

/** What runs into the node and out of it, each with a way to cut it. */
function Connections({ live, nodeId, edges, titles, isReadOnly }: Omit<Properties, 'portsAt'>) {
  const { say } = useStudio();
  const own = edges.filter(({ source, target }) => source === nodeId || target === nodeId);
  if (own.length === 0) return null;
  return (
    <div className="connections">
      <span className="label">{say('connections')}</span>
      <ul>
        {own.map(({ id, source, target, sourceHandle, targetHandle }) => {
          const isOut = source === nodeId;
          const name = titles.get(isOut ? target : source) ?? '';
          const port = portName((isOut ? sourceHandle : targetHandle) ?? '', say);
          return (
            <li key={id}>
              <span aria-hidden="true">{isOut ? '→' : '←'}</span> <span className="hidden">{say(isOut ? 'leadsTo' : 'comesFrom')}</span>
              {name} <span className="quiet">{port}</span>
              {!isReadOnly && (
                <button type="button" className="plain small" aria-label={say('disconnect', { name })} onClick={() => remove(live.document, [], [id])}>
                  ✕
                </button>
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** The way from port to port for those who do not drag: only what fits is offered. */
function ConnectTo({ live, nodeId, portsAt, titles }: Pick<Properties, 'live' | 'nodeId' | 'portsAt' | 'titles'>) {
  const { say } = useStudio();
  const from = portsAt(nodeId);
  const choices = [...titles].flatMap(([id, title]) => {
    if (id === nodeId) return [];
    const found = portsAt(id).inputs.flatMap((into) => {
      const out = from.outputs.find(({ kind }) => fits(kind, into.kind));
      return out ? [{ key: `${id} ${into.id}`, id, title, out: out.id, into: into.id }] : [];
    });
    return found.map((choice) => ({ ...choice, title: found.length > 1 ? `${title}: ${portName(choice.into, say)}` : title }));
  });
  const choose = (key: string): void => {
    const choice = choices.find((each) => each.key === key);
    if (!choice) return;
    connect(live.document, { source: nodeId, target: choice.id, ...namedPorts(choice.out, choice.into, from, portsAt(choice.id)) });
  };
  if (from.outputs.length === 0) return null;
  return (
    <label>
      {say('connectTo')}
      <select value="" onChange={(event) => choose(event.target.value)}>
        <option value="" />
        {choices.map(({ key, title }) => (
          <option key={key} value={key}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

interface FieldProperties {
  live: Live;
  node: Y.Map<unknown>;
  field: string;
  label: string;
  rows: number;
  isReadOnly: boolean;
}

function Field({ live, node, field, label, rows, isReadOnly }: FieldProperties) {
  const value = node.get(field);
  if (value instanceof Y.Text) return <SharedText text={value} label={label} rows={rows} isReadOnly={isReadOnly} />;
  if (isReadOnly) return null;
  const begin = (): void =>
    live.document.transact(() => {
      node.set(field, new Y.Text(typeof value === 'string' ? value : ''));
    });
  return (
    <button type="button" className="plain" onClick={begin}>
      + {label}
    </button>
  );
}
