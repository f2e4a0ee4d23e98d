/** Says that what a person was at was removed by somebody else, by whom, and where to get it back. */
import { useEffect, useState } from 'react';

import { having } from '../api/operation';
import { WorkHistory } from '../operations/generated';
import { useStudio } from '../studio';

interface Properties {
  workId: string;
  nodeId: string;
  dismiss: () => void;
}

export function GoneNotice({ workId, nodeId, dismiss }: Properties) {
  const { api, say } = useStudio();
  const [by, setBy] = useState<string | null>(null);
  useEffect(() => {
    let isWanted = true;
    const read = async (): Promise<void> => {
      const { node } = await api.run(WorkHistory, { id: workId, first: 10 });
      const revision = having(node, 'history')?.history.nodes.find(({ nodeIds }) => nodeIds.includes(nodeId));
      if (isWanted && revision) setBy(revision.by.kind === 'AGENT' ? say('agent') : revision.by.label);
    };
    read().catch(() => undefined);
    return () => {
      isWanted = false;
    };
  }, [api, workId, nodeId, say]);
  return (
    <p className="while-away" role="status">
      {say('goneUnderYou', { name: by ?? say('somebody') })}{' '}
      <button type="button" className="plain" onClick={dismiss}>
        {say('understood')}
      </button>
    </p>
  );
}
