/** One shot or item: picture, prose typed live, how long it lasts, and the ways to move and remove it. */
import { memo, useEffect, useId, useReducer, useState, type DragEvent, type KeyboardEvent } from 'react';
import * as Y from 'yjs';

import { useStudio } from '../studio';
import type { Word } from '../strings';
import type { Live, Present } from './live';
import { Picture } from './picture';
import { PresentNames } from './presence';
import { SharedText } from './shared_text';
import { findShot, proseOf, removeShot, shown, type Layout, type Prose, type Shot } from './storyboard';

const ROWS: Record<Prose, number> = { title: 1, description: 2, prompt: 2, notes: 3 };
const LABELS: Record<Prose, Word> = { title: 'title', description: 'description', prompt: 'prompt', notes: 'notes' };

export type Move = -1 | 1 | 'first' | 'last';

const KEYS: Record<string, Move> = {
  ArrowLeft: -1,
  ArrowUp: -1,
  ArrowRight: 1,
  ArrowDown: 1,
  Home: 'first',
  End: 'last',
};

interface Properties {
  live: Live;
  layout: Layout;
  id: string;
  index: number;
  isLast: boolean;
  isReadOnly: boolean;
  others: Present[];
  actions: CardActions;
}

/** What a card asks of its board. */
export interface CardActions {
  lift: (id: string, event: DragEvent) => void;
  end: () => void;
  move: (id: string, by: Move) => void;
  /** Tells the others at which card the person is. */
  announce: (id: string | null) => void;
}

export const BoardCard = memo(function BoardCard(properties: Properties) {
  const shot = findShot(properties.live.document, properties.id);
  return shot && <ShotCard {...properties} shot={shot} />;
});

/** Draws again when fields come, go or are replaced; what is typed in them draws itself. */
function useFields(shot: Shot): void {
  const [, changed] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    shot.observe(changed);
    return () => shot.unobserve(changed);
  }, [shot]);
}

function ShotCard({ live, layout, id, shot, index, isLast, isReadOnly, others, actions }: Properties & { shot: Shot }) {
  const { say } = useStudio();
  const { document: content } = live;
  useFields(shot);
  const name = `${say(layout.type)} ${index + 1}`;
  const moved = (button: HTMLElement, by: Move): void => {
    actions.move(id, by);
    // The card goes to another place in the page, and takes the focus along.
    requestAnimationFrame(() => {
      const isOff = button instanceof HTMLButtonElement && button.disabled;
      (isOff ? button.closest('article')?.querySelector<HTMLElement>('.handle') : button)?.focus();
    });
  };
  const pressed = (event: KeyboardEvent<HTMLElement>): void => {
    const by = KEYS[event.key];
    if (by === undefined) return;
    event.preventDefault();
    moved(event.currentTarget, by);
  };
  const remove = (): void => {
    const isEmpty = layout.prose.every((field) => shown(shot, field) === '');
    if (isEmpty || confirm(say('removeShotQuestion'))) removeShot(content, id);
  };
  return (
    <article className="card" aria-label={name} onFocus={() => actions.announce(id)} onBlur={() => actions.announce(null)}>
      <header>
        {!isReadOnly && (
          <button
            type="button"
            className="plain handle"
            aria-label={say('moveByKeys', { name })}
            title={say('moveHint')}
            onKeyDown={pressed}
            draggable
            onDragStart={(event) => actions.lift(id, event)}
            onDragEnd={actions.end}
          >
            ⠿
          </button>
        )}
        <h3>{name}</h3>
        <PresentNames present={others} />
        {!isReadOnly && (
          <button type="button" className="plain small remove" aria-label={say('removeShot')} title={say('removeShot')} onClick={remove}>
            ✕
          </button>
        )}
      </header>
      <Picture content={content} shot={shot} isReadOnly={isReadOnly} />
      {layout.prose.map((field) => (
        <ProseField key={field} content={content} shot={shot} field={field} isReadOnly={isReadOnly} />
      ))}
      <footer>
        {layout.type === 'shot' && <Duration content={content} shot={shot} isReadOnly={isReadOnly} />}
        {!isReadOnly && (
          <>
            <button type="button" className="plain" aria-label={say('moveLeft')} disabled={index === 0} onClick={(event) => moved(event.currentTarget, -1)}>
              ←
            </button>
            <button
              type="button"
              className="plain"
              aria-label={say('moveRight')}
              disabled={isLast}
              onClick={(event) => moved(event.currentTarget, 1)}
            >
              →
            </button>
          </>
        )}
      </footer>
    </article>
  );
}

interface FieldProperties {
  content: Y.Doc;
  shot: Shot;
  isReadOnly: boolean;
}

/** Seconds; what is not a number there is left alone until somebody sets one. */
function Duration({ content, shot, isReadOnly }: FieldProperties) {
  const { say } = useStudio();
  const value = shot.get('duration');
  const set = (text: string): void => {
    const seconds = Number(text);
    if (text !== '' && !(seconds >= 0)) return;
    content.transact(() => (text === '' ? shot.delete('duration') : shot.set('duration', seconds)));
  };
  return (
    <label className="duration">
      {say('seconds')}
      <input
        type="number"
        min={0}
        step={0.5}
        readOnly={isReadOnly}
        value={typeof value === 'number' ? value : ''}
        onChange={(event) => set(event.target.value)}
      />
    </label>
  );
}

/** A field of a shot. One that another editor stored as a plain value becomes shared text when somebody goes to type in it. */
function ProseField({ content, shot, field, isReadOnly }: FieldProperties & { field: Prose }) {
  const { say } = useStudio();
  const id = useId();
  const [isTaken, setTaken] = useState(false);
  const value = shot.get(field);
  const label = say(LABELS[field]);
  if (value instanceof Y.Text) {
    return (
      <SharedText
        text={value}
        label={label}
        rows={ROWS[field]}
        isReadOnly={isReadOnly}
        takesFocus={isTaken}
        className={field}
      />
    );
  }
  const take = (): void => {
    if (isReadOnly) return;
    setTaken(true);
    proseOf(content, shot, field);
  };
  return (
    <div className={`field ${field}`}>
      <label htmlFor={id}>{label}</label>
      <textarea id={id} rows={ROWS[field]} readOnly value={shown(shot, field)} onFocus={take} />
    </div>
  );
}
