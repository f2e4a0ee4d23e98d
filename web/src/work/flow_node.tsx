/** A node on the canvas: what it is, what it is called, whether it runs; a port on either side. */
import { Handle, Position, type NodeProps, type Node } from '@xyflow/react';
import { memo } from 'react';

import { AssetPicture } from './picture';

export interface FlowNodeData extends Record<string, unknown> {
  type: string;
  title: string;
  description: string;
  runState: string | null;
  assetId: string | null;
}

export const FlowNodeView = memo(function FlowNodeView({ data, selected }: NodeProps<Node<FlowNodeData, 'work'>>) {
  return (
    <div className={selected ? 'flow-node selected' : 'flow-node'}>
      <Handle type="target" position={Position.Left} />
      <p className="quiet">
        {data.type} {data.runState && <span className={`run ${data.runState}`}>{data.runState}</span>}
      </p>
      <b>{data.title}</b>
      {data.assetId && <AssetPicture assetId={data.assetId} />}
      {data.description && <p className="lines">{data.description}</p>}
      <Handle type="source" position={Position.Right} />
    </div>
  );
});
