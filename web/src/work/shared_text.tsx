/** A textarea that several people can type in. */
import { useEffect, useId, useRef } from 'react';
import type * as Y from 'yjs';

import { TextBinding } from './text_binding';

interface Properties {
  text: Y.Text;
  label: string;
  rows: number;
  isReadOnly: boolean;
  /** Whether it is what the person was about to type in. */
  takesFocus?: boolean;
  className?: string;
}

export function SharedText({ text, label, rows, isReadOnly, takesFocus, className }: Properties) {
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (!area.current) return undefined;
    const binding = new TextBinding(area.current, text);
    return () => binding.dispose();
  }, [text]);
  useEffect(() => {
    if (takesFocus) area.current?.focus();
  }, [takesFocus]);
  // Places in a text with embedded objects can not be told from what a textarea shows.
  const isPlain = text.length === text.toString().length;
  return (
    <div className={`field ${className ?? ''}`}>
      <label htmlFor={id}>{label}</label>
      <textarea id={id} ref={area} rows={rows} readOnly={isReadOnly || !isPlain} />
    </div>
  );
}
