/** Two versions of a work, and what is different between them. */
import { Notice } from '../frame/notice';
import { Content, type ContentQuery } from '../operations/generated';
import { useQuery, useStudio } from '../studio';
import { differNodes, differText, type NodeDifference, type NodeLike, type Piece } from './differences';

type Node = NonNullable<ContentQuery['node']>;

export function Comparison({ workId, from, to }: { workId: string; from: number; to: number }) {
  const { say } = useStudio();
  const before = useQuery(Content, { id: workId, version: from });
  const after = useQuery(Content, { id: workId, version: to });
  const [left, right] = [before.data?.node, after.data?.node];
  if (!left || !right) {
    return (
      <Notice
        error={before.error ?? after.error}
        retry={() => {
          before.refresh();
          after.refresh();
        }}
      />
    );
  }
  if ('text' in left && 'text' in right) return <Pieces pieces={differText(left.text, right.text)} />;
  const found = differNodes(nodesOf(left), nodesOf(right));
  if (found.length === 0) return <p className="quiet">{say('noDifference')}</p>;
  return (
    <ul className="differences">
      {found.map((difference) => (
        <DifferenceView key={difference.id} difference={difference} />
      ))}
    </ul>
  );
}

function DifferenceView({ difference }: { difference: NodeDifference }) {
  const { say } = useStudio();
  return (
    <li className={difference.kind}>
      <b>{difference.title}</b> <span className="quiet">{say(`difference_${difference.kind}`)}</span>
      {difference.kind !== 'added' && difference.fields.length > 0 && (
        <dl>
          {difference.fields.map(({ name, pieces }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <Pieces pieces={pieces} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </li>
  );
}

function Pieces({ pieces }: { pieces: Piece[] }) {
  return (
    <p className="pieces">
      {pieces.map(({ kind, text }, index) => {
        if (kind === 'out') return <del key={index}>{text}</del>;
        return kind === 'in' ? <ins key={index}>{text}</ins> : <span key={index}>{text}</span>;
      })}
    </p>
  );
}

/** Nodes, and a flow's edges as nodes of their own. */
function nodesOf(node: Node): NodeLike[] {
  const nodes = 'nodes' in node ? node.nodes : [];
  const edges = 'edges' in node ? node.edges : [];
  return [
    ...nodes,
    ...edges.map(({ id, source, target }) => ({ id, type: 'edge', fields: { title: `${source} → ${target}`, source, target } })),
  ];
}
