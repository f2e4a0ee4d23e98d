/** A node on the canvas: what it is, what it takes in and gives out, whether it runs, and what came of it. */
import { Handle, Position, type NodeProps, type Node } from '@xyflow/react';
import { createContext, memo, useContext } from 'react';

import { JobPill } from '../frame/pill';
import { isWord, type Say, type Word } from '../strings';
import { percent } from '../strings/moments';
import { useStudio } from '../studio';
import { AssetPicture } from './picture';
import { isNodeType, namedOfKey, portsOf, type Port } from './ports';
import { NO_RUNS, type Runs } from './runs';

export interface FlowNodeData extends Record<string, unknown> {
  type: string;
  title: string;
  description: string;
  runState: string | null;
  assetId: string | null;
  /** The ports that edges name here, beside those of its type. */
  ports: string;
}

/** What runs for the nodes around. */
export const RunsContext = createContext<Runs>(NO_RUNS);

export const FlowNodeView = memo(function FlowNodeView({ id, data, selected }: NodeProps<Node<FlowNodeData, 'work'>>) {
  const { say } = useStudio();
  const run = useContext(RunsContext).get(id);
  const { inputs, outputs } = portsOf(data.type, namedOfKey(data.ports));
  const assetId = data.assetId ?? run?.output?.id ?? null;
  return (
    <div className={`flow-node type-${isNodeType(data.type) ? data.type : 'other'}${selected ? ' selected' : ''}`}>
      <header>
        <span className="node-type">{typeName(data.type, say)}</span>
        {run ? <JobPill state={run.state} /> : data.runState && <span className={`pill ${toneOf(data.runState)}`}>{stateName(data.runState, say)}</span>}
      </header>
      <b className={data.title ? '' : 'quiet'}>{data.title || say('untitled')}</b>
      <RunProgress run={run} />
      {assetId && <AssetPicture assetId={assetId} />}
      {data.description && <p className="lines">{data.description}</p>}
      {run?.error && <p className="node-error">{run.error}</p>}
      <div className="ports">
        <PortList ports={inputs} side="target" />
        <PortList ports={outputs} side="source" />
      </div>
    </div>
  );
});

function RunProgress({ run }: { run: { state: string; progress: number } | undefined }) {
  const { say, language } = useStudio();
  if (!run || (run.state !== 'RUNNING' && run.state !== 'SUBMITTING')) return null;
  return (
    <p className="node-progress">
      <progress value={run.progress > 0 ? run.progress : undefined} aria-label={say('progress')} />
      {run.progress > 0 && percent(run.progress, language)}
    </p>
  );
}

function PortList({ ports, side }: { ports: readonly Port[]; side: 'source' | 'target' }) {
  const { say } = useStudio();
  return (
    <ul className={side === 'target' ? 'port-list in' : 'port-list out'}>
      {ports.map(({ id, kind }) => (
        <li key={id}>
          <Handle id={id} type={side} position={side === 'target' ? Position.Left : Position.Right} className={`carries-${kind}`} />
          {portName(id, say)}
        </li>
      ))}
    </ul>
  );
}

/** A type in words; one that is not known here under its own name. */
export function typeName(type: string, say: Say): string {
  return named(`nodeType_${type}`, type || say('node'), say);
}

export function portName(id: string, say: Say): string {
  return named(`port_${id}`, id, say);
}

function named(word: string, otherwise: string, say: Say): string {
  return isWord(word) ? say(word) : otherwise;
}

/** States that editors and programs write into a node's field `state`. */
const STATES: Record<string, { tone: string; word: Word }> = {
  idle: { tone: 'rests', word: 'run_idle' },
  queued: { tone: 'busy', word: 'run_queued' },
  running: { tone: 'busy', word: 'run_running' },
  done: { tone: 'good', word: 'run_done' },
  failed: { tone: 'bad', word: 'run_failed' },
  stale: { tone: 'asks', word: 'run_stale' },
};

function toneOf(state: string): string {
  return STATES[state.toLowerCase()]?.tone ?? 'rests';
}

function stateName(state: string, say: Say): string {
  const known = STATES[state.toLowerCase()];
  return known ? say(known.word) : state;
}
