/** Flows and collections as they are stored: their nodes in order, with all fields, and a flow's edges. */
import { useEffect } from 'react';

import { Notice } from '../notice';
import { useQuery, useStudio } from '../studio';

const FLOW = `query Flow($id: ID!) {
  node(id: $id) { ... on Flow { nodes { id type fields } edges { id source target sourcePort targetPort } } }
}`;
const COLLECTION = `query Collection($id: ID!) {
  node(id: $id) { ... on Collection { nodes { id type fields } } }
}`;

interface WorkNode {
  id: string;
  type: string;
  fields: Record<string, unknown>;
}

interface FlowEdge {
  id: string;
  source: string;
  target: string;
  sourcePort: string | null;
  targetPort: string | null;
}

interface Data {
  node: { nodes?: WorkNode[]; edges?: FlowEdge[] } | null;
}

interface Properties {
  kind: 'FLOW' | 'COLLECTION';
  workId: string;
  round: number;
}

export function NodesView({ kind, workId, round }: Properties) {
  const { api, say } = useStudio();
  const { data, error, reload } = useQuery<Data>(api, kind === 'FLOW' ? FLOW : COLLECTION, { id: workId });
  useEffect(() => {
    if (round > 0) reload();
  }, [round, reload]);
  if (!data) return <Notice error={error} retry={reload} />;
  const { nodes = [], edges = [] } = data.node ?? {};
  if (nodes.length === 0) return <p className="quiet">{say('emptyWork')}</p>;
  const names = new Map(nodes.map((node) => [node.id, nameOf(node)]));
  return (
    <>
      <h3>{say('nodes')}</h3>
      <ol className="nodes">
        {nodes.map((node) => (
          <li key={node.id} className="card">
            <h4>
              {nameOf(node)} <span className="quiet">{node.type}</span>
            </h4>
            <Fields fields={node.fields} />
          </li>
        ))}
      </ol>
      {edges.length > 0 && <h3>{say('edges')}</h3>}
      <ul className="edges">
        {edges.map((edge) => (
          <li key={edge.id}>
            {end(names, edge.source, edge.sourcePort)} → {end(names, edge.target, edge.targetPort)}
          </li>
        ))}
      </ul>
    </>
  );
}

function Fields({ fields }: { fields: Record<string, unknown> }) {
  return (
    <dl>
      {Object.entries(fields).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function nameOf(node: WorkNode): string {
  const { title } = node.fields;
  return typeof title === 'string' && title !== '' ? title : node.id;
}

function end(names: Map<string, string>, id: string, port: string | null): string {
  const name = names.get(id) ?? id;
  return port ? `${name} (${port})` : name;
}
