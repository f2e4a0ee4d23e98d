/** Finds tasks, works, messages and memories by words or meaning; Ctrl+K (⌘K) comes here, arrow keys go through what is found. */
import { useEffect, useRef, useState, type KeyboardEvent } from 'react';

import { Find, type FindQuery } from '../operations/generated';
import type { Say } from '../strings';
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
  const input = useRef<HTMLInputElement>(null);
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    const pressed = (event: globalThis.KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
  const pressed = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') {
      setText('');
      input.current?.focus();
    }
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by === 0) return;
    const stops = [input.current, ...(box.current?.querySelectorAll<HTMLElement>('.results button') ?? [])];
    const at = stops.indexOf(document.activeElement as HTMLElement);
    event.preventDefault();
    stops[(at + by + stops.length) % stops.length]?.focus();
  };
  const open = (hash: string): void => {
    setText('');
    setAsked('');
    go(hash);
  };
  return (
    <search className="search-box" ref={box} onKeyDown={pressed}>
      <input
        ref={input}
        type="search"
        aria-label={say('search')}
        aria-keyshortcuts="Control+K Meta+K"
        placeholder={say('searchHint')}
        value={text}
        onChange={(event) => setText(event.target.value)}
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
            <span className="quiet clip">
              {kindOf(edge, say)} · {edge.snippet}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function kindOf({ node }: Found, say: Say): string {
  if ('taskTitle' in node) return say('task');
  if ('memoryKind' in node) return say('memory');
  return say('title' in node ? node.kind : 'message');
}

function titleOf({ node, snippet }: Found): string {
  if ('taskTitle' in node) return node.taskTitle;
  if ('memoryKind' in node) return node.current?.content ?? snippet;
  if ('title' in node) return node.title;
  return 'text' in node ? node.text : snippet;
}

function hashOf(workspaceId: string, { node }: Found): string {
  if ('taskTitle' in node) return linkTo(workspaceId, { taskId: node.id });
  if ('title' in node) return linkTo(workspaceId, { workId: node.id });
  if ('memoryKind' in node) return linkTo(workspaceId, { memoryId: node.id });
  return linkTo(workspaceId, { taskId: 'task' in node ? (node.task?.id ?? null) : null });
}
