/** Finds tasks, works and messages by words or meaning. */
import { useEffect, useState } from 'react';

import { Find, type FindQuery } from '../operations/generated';
import { useQuery, useRoom, useStudio } from '../studio';
import { linkTo } from './place';

/** How long a person must pause before it is looked for. */
const PAUSE_MS = 250;

type Found = FindQuery['search']['edges'][number];

export function SearchBox({ go }: { go: (hash: string) => void }) {
  const { say } = useStudio();
  const { workspaceId } = useRoom();
  const [text, setText] = useState('');
  const [asked, setAsked] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const open = (hash: string): void => {
    setText('');
    setAsked('');
    go(hash);
  };
  return (
    <search className="search-box">
      <input
        type="search"
        aria-label={say('search')}
        placeholder={say('search')}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && setText('')}
      />
      {asked.length > 1 && text !== '' && <Results key={workspaceId} query={asked} open={open} />}
    </search>
  );
}

function Results({ query, open }: { query: string; open: (hash: string) => void }) {
  const { say } = useStudio();
  const { workspaceId } = useRoom();
  const { data } = useQuery(Find, { id: workspaceId, query });
  if (!data) return null;
  const { edges } = data.search;
  return (
    <ul className="results">
      {edges.length === 0 && <li className="quiet">{say('nothingFound')}</li>}
      {edges.map((edge) => (
        <li key={edge.node.id}>
          <button type="button" className="plain" onClick={() => open(hashOf(workspaceId, edge))}>
            <span className="clip">{titleOf(edge)}</span>
            <span className="quiet clip">{edge.snippet}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function titleOf({ node, snippet }: Found): string {
  if ('taskTitle' in node) return node.taskTitle;
  if ('title' in node) return node.title;
  return 'text' in node ? node.text : snippet;
}

function hashOf(workspaceId: string, { node }: Found): string {
  if ('taskTitle' in node) return linkTo(workspaceId, { taskId: node.id });
  if ('title' in node) return linkTo(workspaceId, { workId: node.id });
  return linkTo(workspaceId, { taskId: 'task' in node ? (node.task?.id ?? null) : null });
}
