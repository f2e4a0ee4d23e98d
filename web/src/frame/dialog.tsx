/** A question over the page: takes the focus, gives it back, and closes with Escape. */
import { useEffect, useId, useRef, type ReactNode } from 'react';

import { useStudio } from '../studio';

interface Properties {
  title: string;
  close: () => void;
  /** Whether it takes as much room as there is, for pictures. */
  isWide?: boolean;
  children: ReactNode;
}

export function Dialog({ title, close, isWide = false, children }: Properties) {
  const { say } = useStudio();
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = box.current;
    if (dialog && !dialog.open) dialog.showModal();
  }, []);
  return (
    <dialog
      ref={box}
      className={isWide ? 'large' : ''}
      aria-labelledby={id}
      onClose={close}
      onClick={(event) => event.target === box.current && box.current.close()}
    >
      <div className="dialog">
        <header>
          <h2 id={id}>{title}</h2>
          <button type="button" className="plain" aria-label={say('close')} onClick={() => box.current?.close()}>
            ✕
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
