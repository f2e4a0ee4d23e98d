/** The board of a storyboard: its shots as cards, edited live by everybody who has it open. */
import { useEffect, useId, useRef, useState } from 'react';
import * as Y from 'yjs';

import { useStudio } from '../studio';
import type { Word } from '../strings';
import { announce, usePresence, useStructure, type Live, type Present } from './live';
import { PresentNames } from './presence';
import { SharedText } from './shared_text';
import { addShot, findShot, moveShot, PROSE, proseOf, removeShot, shotIds, shown } from './storyboard';
import type { Prose, Shot } from './storyboard';

const ROWS: Record<Prose, number> = { title: 1, description: 3, prompt: 3 };
const LABELS: Record<Prose, Word> = { title: 'title', description: 'description', prompt: 'prompt' };

export function Board({ live, isReadOnly }: { live: Live; isReadOnly: boolean }) {
  const { say } = useStudio();
  useStructure(live.document);
  const present = usePresence(live);
  const added = useRef<string | null>(null);
  const ids = shotIds(live.document);
  const add = (): void => {
    added.current = addShot(live.document);
  };
  useEffect(() => {
    if (!added.current) return;
    document.getElementById(added.current)?.querySelector('textarea')?.focus();
    added.current = null;
  });
  return (
    <>
      {ids.length === 0 && <p className="quiet">{say('noShots')}</p>}
      <ol className="board">
        {ids.map((id, index) => (
          <li key={id} id={id}>
            <Card
              live={live}
              id={id}
              index={index}
              isLast={index === ids.length - 1}
              isReadOnly={isReadOnly}
              others={present.filter((each) => each.nodeId === id && !each.isSelf)}
            />
          </li>
        ))}
      </ol>
      {!isReadOnly && (
        <button type="button" className="primary" onClick={add}>
          {say('addShot')}
        </button>
      )}
    </>
  );
}

interface CardProperties {
  live: Live;
  id: string;
  index: number;
  isLast: boolean;
  isReadOnly: boolean;
  others: Present[];
}

function Card({ live, id, index, isLast, isReadOnly, others }: CardProperties) {
  const { say, viewer } = useStudio();
  const { document: content } = live;
  const shot = findShot(content, id);
  if (!shot) return null;
  const move = (button: HTMLButtonElement, by: -1 | 1): void => {
    moveShot(content, id, by);
    // The card goes to another place in the page, and takes the focus along.
    requestAnimationFrame(() => {
      const isAtEnd = button.disabled;
      (isAtEnd ? button.closest('article')?.querySelector('textarea') : button)?.focus();
    });
  };
  const name = `${say('shot')} ${index + 1}`;
  const remove = (): void => {
    const isEmpty = PROSE.every((field) => shown(shot, field) === '');
    if (isEmpty || confirm(say('removeShotQuestion'))) removeShot(content, id);
  };
  return (
    <article
      className="card"
      aria-label={name}
      onFocus={() => announce(live, viewer.name, id)}
      onBlur={() => announce(live, viewer.name, null)}
    >
      <header>
        <h3>{name}</h3>
        <PresentNames present={others} />
      </header>
      {PROSE.map((field) => (
        <ProseField key={field} content={content} shot={shot} field={field} isReadOnly={isReadOnly} />
      ))}
      {!isReadOnly && (
        <footer>
          <button type="button" disabled={index === 0} onClick={(event) => move(event.currentTarget, -1)}>
            ← {say('moveLeft')}
          </button>
          <button type="button" disabled={isLast} onClick={(event) => move(event.currentTarget, 1)}>
            {say('moveRight')} →
          </button>
          <button type="button" className="danger" onClick={remove}>
            {say('removeShot')}
          </button>
        </footer>
      )}
    </article>
  );
}

interface ProseProperties {
  content: Y.Doc;
  shot: Shot;
  field: Prose;
  isReadOnly: boolean;
}

/** A field of a shot. One that another editor stored as a plain value becomes shared text when somebody goes to type in it. */
function ProseField({ content, shot, field, isReadOnly }: ProseProperties) {
  const { say } = useStudio();
  const id = useId();
  const [isTaken, setTaken] = useState(false);
  const value = shot.get(field);
  const label = say(LABELS[field]);
  if (value instanceof Y.Text) {
    return <SharedText text={value} label={label} rows={ROWS[field]} isReadOnly={isReadOnly} takesFocus={isTaken} />;
  }
  const take = (): void => {
    if (isReadOnly) return;
    setTaken(true);
    proseOf(content, shot, field);
  };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea id={id} rows={ROWS[field]} readOnly value={shown(shot, field)} onFocus={take} />
    </div>
  );
}
