/** What a chosen node of a flow says, typed live. */
import * as Y from 'yjs';

import type { Word } from '../strings';
import { useStudio } from '../studio';
import { connect, nodesOf } from './flow';
import { useStructure, type Live } from './live';
import { SharedText } from './shared_text';

const FIELDS: { field: string; label: Word; rows: number }[] = [
  { field: 'title', label: 'title', rows: 1 },
  { field: 'description', label: 'description', rows: 2 },
  { field: 'prompt', label: 'prompt', rows: 3 },
];

interface Properties {
  live: Live;
  nodeId: string;
  /** What it can be connected to. */
  others: { id: string; title: string }[];
  isReadOnly: boolean;
}

export function FlowDetails({ live, nodeId, others, isReadOnly }: Properties) {
  const { say } = useStudio();
  useStructure(live.document);
  const node = nodesOf(live.document).get(nodeId);
  if (!(node instanceof Y.Map)) return null;
  return (
    <section className="flow-details" aria-label={say('node')}>
      <label>
        {say('kind')}
        <input
          value={String(node.get('type') ?? '')}
          readOnly={isReadOnly}
          onChange={(event) => live.document.transact(() => node.set('type', event.target.value))}
        />
      </label>
      {FIELDS.map(({ field, label, rows }) => (
        <Field key={`${nodeId} ${field}`} live={live} node={node} field={field} label={say(label)} rows={rows} isReadOnly={isReadOnly} />
      ))}
      {!isReadOnly && others.length > 0 && <ConnectTo live={live} nodeId={nodeId} others={others} />}
    </section>
  );
}

/** The way from port to port for those who do not drag. */
function ConnectTo({ live, nodeId, others }: Omit<Properties, 'isReadOnly'>) {
  const { say } = useStudio();
  const choose = (target: string): void =>
    connect(live.document, { source: nodeId, target, sourcePort: null, targetPort: null });
  return (
    <label>
      {say('connectTo')}
      <select value="" onChange={(event) => choose(event.target.value)}>
        <option value="" />
        {others.map(({ id, title }) => (
          <option key={id} value={id}>
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
  const begin = (): void => live.document.transact(() => {
      node.set(field, new Y.Text(typeof value === 'string' ? value : ''));
    });
  return (
    <button type="button" className="plain" onClick={begin}>
      + {label}
    </button>
  );
}
