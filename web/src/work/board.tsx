/** The board of a storyboard or collection: its shots or items as cards, edited live by everybody who has it open. */
import { startTransition, useCallback, useEffect, useMemo, useRef, useState, type DragEvent } from 'react';

import type * as Y from 'yjs';

import { useStudio } from '../studio';
import { UploadList, useUploads } from '../talk/uploads';
import { PICTURE } from './asset_reference';
import { GoneNotice } from './gone_notice';
import { announce, usePresence, useStructure, type Live, type Present } from './live';
import { BoardCard, type CardActions } from './board_card';
import { addShot, findShot, moveAfter, moveShot, shotIds, type Layout } from './storyboard';

/** So many cards are drawn at once; the rest of a long board follows without holding up the first view. */
const FIRST_CARDS = 40;

interface Properties {
  workId: string;
  live: Live;
  layout: Layout;
  isReadOnly: boolean;
}

export function Board({ workId, live, layout, isReadOnly }: Properties) {
  const { say, viewer } = useStudio();
  useStructure(live.document);
  const present = usePresence(live);
  const added = useRef<string | null>(null);
  const ids = shotIds(live.document);
  const { at, gone, forget } = useGone(live.document);
  const [most, setMost] = useState(FIRST_CARDS);
  useEffect(() => startTransition(() => setMost(Number.POSITIVE_INFINITY)), []);
  // A picture that is dropped beside the cards becomes a card of its own.
  const uploads = useUploads(({ id, title }) =>
    live.document.transact(() => {
      const shot = findShot(live.document, addShot(live.document, layout));
      shot?.set(PICTURE, id);
      (shot?.get('title') as Y.Text | undefined)?.insert(0, title.replace(/\.\w+$/, ''));
    }),
  );
  const takesFiles = isReadOnly
    ? {}
    : {
        onDragOver: (event: DragEvent) => event.dataTransfer.types.includes('Files') && event.preventDefault(),
        onDrop: (event: DragEvent) => {
          if (!event.defaultPrevented && uploads.takeFrom(event.dataTransfer)) event.preventDefault();
        },
      };
  const dragging = useDragging((id, after) => moveAfter(live.document, id, after), ids);
  const others = useMemo(() => byNode(present), [present]);
  const { lift, end } = dragging;
  // The same for all cards and over all changes, so that a card is drawn again only for what is its own.
  const actions = useMemo<CardActions>(
    () => ({
      lift,
      end,
      move: (id, by) => (typeof by === 'number' ? moveShot(live.document, id, by) : toEnd(live, id, by)),
      announce: (id) => {
        at.current = id;
        announce(live, viewer.name, id);
      },
    }),
    [live, viewer.name, lift, end, at],
  );
  useEffect(() => {
    if (!added.current) return;
    document.getElementById(added.current)?.querySelector('textarea')?.focus();
    added.current = null;
  });
  return (
    <>
      {gone && <GoneNotice key={gone} workId={workId} nodeId={gone} dismiss={forget} />}
      {ids.length === 0 && <p className="quiet">{say(layout.type === 'shot' ? 'noShots' : 'emptyWork')}</p>}
      <UploadList uploads={uploads} />
      <ol className={`board ${layout.type}s`} {...takesFiles}>
        {ids.slice(0, most).map((id, index) => (
          <li key={id} id={id} className={dragging.classOf(id)} {...(isReadOnly ? {} : dragging.target(id))}>
            <BoardCard
              live={live}
              layout={layout}
              id={id}
              index={index}
              isLast={index === ids.length - 1}
              isReadOnly={isReadOnly}
              others={others.get(id) ?? NOBODY}
              actions={actions}
            />
          </li>
        ))}
      </ol>
      {!isReadOnly && (
        <button type="button" className="primary" onClick={() => (added.current = addShot(live.document, layout))}>
          {say(layout.type === 'shot' ? 'addShot' : 'addItem')}
        </button>
      )}
    </>
  );
}

/** The card that a person was at when somebody else removed it. */
function useGone(document: Y.Doc) {
  const at = useRef<string | null>(null);
  const [gone, setGone] = useState<string | null>(null);
  useEffect(() => {
    const nodes = document.getMap('nodes');
    const observe = ({ keysChanged }: Y.YMapEvent<unknown>, { local }: Y.Transaction): void => {
      const id = at.current;
      if (!local && id && keysChanged.has(id) && !nodes.has(id)) setGone(id);
    };
    nodes.observe(observe);
    return () => nodes.unobserve(observe);
  }, [document]);
  return { at, gone, forget: () => setGone(null) };
}

const NOBODY: Present[] = [];

/** Who else is at which card. */
function byNode(present: Present[]): Map<string, Present[]> {
  const found = new Map<string, Present[]>();
  for (const each of present) {
    if (each.nodeId && !each.isSelf) found.set(each.nodeId, [...(found.get(each.nodeId) ?? []), each]);
  }
  return found;
}

function toEnd({ document }: Live, id: string, end: 'first' | 'last'): void {
  const others = shotIds(document).filter((each) => each !== id);
  moveAfter(document, id, end === 'first' ? null : (others.at(-1) ?? null));
}

interface Over {
  id: string;
  isBefore: boolean;
}

/** Dragging by the handle; the card under the pointer shows on which side the dragged one will come to lie. */
function useDragging(drop: (id: string, after: string | null) => void, ids: string[]) {
  const [dragged, setDragged] = useState<string | null>(null);
  const [over, setOver] = useState<Over | null>(null);
  const end = useCallback(() => {
    setDragged(null);
    setOver(null);
  }, []);
  const lift = useCallback((id: string, event: DragEvent) => {
    event.dataTransfer.setData('text/plain', id);
    event.dataTransfer.effectAllowed = 'move';
    const card = document.getElementById(id);
    if (card) event.dataTransfer.setDragImage(card, 16, 16);
    setDragged(id);
  }, []);
  return {
    classOf: (id: string): string =>
      id === dragged ? 'dragged' : over?.id === id ? (over.isBefore ? 'drop-before' : 'drop-after') : '',
    lift,
    end,
    target: (id: string) => ({
      onDragOver: (event: DragEvent) => {
        if (!dragged) return;
        event.preventDefault();
        const { left, width } = event.currentTarget.getBoundingClientRect();
        const isBefore = event.clientX < left + width / 2;
        // Said only when it changes: it comes with every move of the pointer.
        if (over?.id !== id || over.isBefore !== isBefore) setOver({ id, isBefore });
      },
      onDrop: (event: DragEvent) => {
        if (!dragged) return;
        event.preventDefault();
        const { left, width } = event.currentTarget.getBoundingClientRect();
        const isBefore = event.clientX < left + width / 2;
        const others = ids.filter((each) => each !== dragged);
        const at = others.indexOf(id);
        if (id !== dragged) drop(dragged, isBefore ? (others[at - 1] ?? null) : id);
        end();
      },
    }),
  };
}
