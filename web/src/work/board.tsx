/** The board of a storyboard or collection: its shots or items as cards, edited live by everybody who has it open. */
import { useEffect, useRef, useState, type DragEvent } from 'react';

import { useStudio } from '../studio';
import { announce, usePresence, useStructure, type Live } from './live';
import { BoardCard } from './board_card';
import { addShot, moveAfter, moveShot, shotIds, type Layout } from './storyboard';

interface Properties {
  live: Live;
  layout: Layout;
  isReadOnly: boolean;
}

export function Board({ live, layout, isReadOnly }: Properties) {
  const { say, viewer } = useStudio();
  useStructure(live.document);
  const present = usePresence(live);
  const added = useRef<string | null>(null);
  const ids = shotIds(live.document);
  const dragging = useDragging((id, after) => moveAfter(live.document, id, after), ids);
  useEffect(() => {
    if (!added.current) return;
    document.getElementById(added.current)?.querySelector('textarea')?.focus();
    added.current = null;
  });
  return (
    <>
      {ids.length === 0 && <p className="quiet">{say(layout.type === 'shot' ? 'noShots' : 'emptyWork')}</p>}
      <ol className={`board ${layout.type}s`}>
        {ids.map((id, index) => (
          <li key={id} id={id} className={dragging.classOf(id)} {...(isReadOnly ? {} : dragging.target(id))}>
            <BoardCard
              live={live}
              layout={layout}
              id={id}
              index={index}
              count={ids.length}
              isReadOnly={isReadOnly}
              handle={dragging.handle(id)}
              move={(by) => (typeof by === 'number' ? moveShot(live.document, id, by) : toEnd(live, ids, id, by))}
              others={present.filter((each) => each.nodeId === id && !each.isSelf)}
              announce={(isHere) => announce(live, viewer.name, isHere ? id : null)}
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

function toEnd({ document }: Live, ids: string[], id: string, end: 'first' | 'last'): void {
  moveAfter(document, id, end === 'first' ? null : (ids.filter((each) => each !== id).at(-1) ?? null));
}

interface Over {
  id: string;
  isBefore: boolean;
}

/** Dragging by the handle; the card under the pointer shows on which side the dragged one will come to lie. */
function useDragging(drop: (id: string, after: string | null) => void, ids: string[]) {
  const [dragged, setDragged] = useState<string | null>(null);
  const [over, setOver] = useState<Over | null>(null);
  const end = (): void => {
    setDragged(null);
    setOver(null);
  };
  return {
    classOf: (id: string): string =>
      id === dragged ? 'dragged' : over?.id === id ? (over.isBefore ? 'drop-before' : 'drop-after') : '',
    handle: (id: string) => ({
      draggable: true,
      onDragStart: (event: DragEvent) => {
        event.dataTransfer.setData('text/plain', id);
        event.dataTransfer.effectAllowed = 'move';
        const card = document.getElementById(id);
        if (card) event.dataTransfer.setDragImage(card, 16, 16);
        setDragged(id);
      },
      onDragEnd: end,
    }),
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
