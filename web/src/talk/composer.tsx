/** Where a person writes: Enter sends, Shift+Enter makes a line; files can be dropped and pasted, works attached. */
import { useEffect, useId, useRef, useState, type ClipboardEvent, type DragEvent, type KeyboardEvent } from 'react';

import { useStudio } from '../studio';
import type { Draft } from './outbox';
import { UploadList, useUploads } from './uploads';
import { WorkChoice } from './work_choice';

interface Properties {
  label: string;
  /** Takes what was written; a promise of false gives it back. */
  post: (draft: Draft) => void | Promise<boolean>;
  /** Where the text is kept while the person looks elsewhere. */
  draftKey: string;
  autoFocus?: boolean;
}

interface Attached {
  id: string;
  title: string;
}

/** Texts that were begun, for as long as the page lives. */
const drafts = new Map<string, string>();

/** Begins a text for somebody who has chosen one. */
export function putDraft(key: string, text: string): void {
  drafts.set(key, text);
}

export function Composer({ label, post, draftKey, autoFocus = false }: Properties) {
  const { say } = useStudio();
  const [text, setText] = useState(() => drafts.get(draftKey) ?? '');
  const [attached, setAttached] = useState<Attached[]>([]);
  const [isOver, setOver] = useState(false);
  const [isChoosing, setChoosing] = useState(false);
  const id = useId();
  useEffect(() => void drafts.set(draftKey, text), [draftKey, text]);
  const attach = (work: Attached): void =>
    setAttached((before) => (before.some((each) => each.id === work.id) ? before : [...before, work]));
  const uploads = useUploads(attach);
  const isReady = text.trim() !== '' && !uploads.isBusy;
  const send = (): void => {
    if (!isReady) return;
    const taken = post({ text: text.trim(), attachmentIds: attached.map((work) => work.id) });
    setText('');
    setAttached([]);
    void taken?.then((isTaken) => {
      if (isTaken) return;
      setText((since) => since || text);
      setAttached(attached);
    });
  };
  const pressed = (event: KeyboardEvent): void => {
    // Enter that ends a composition (Chinese, Japanese, …) belongs to the composition.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const take = (event: ClipboardEvent | DragEvent, transfer: DataTransfer): void => {
    setOver(false);
    if (uploads.takeFrom(transfer)) event.preventDefault();
  };
  return (
    <form
      className={isOver ? 'composer over' : 'composer'}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes('Files')) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => take(event, event.dataTransfer)}
    >
      <label htmlFor={id} className="hidden">
        {label}
      </label>
      <textarea
        id={id}
        rows={2}
        placeholder={label}
        autoFocus={autoFocus}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={pressed}
        onPaste={(event) => take(event, event.clipboardData)}
      />
      <AttachedList attached={attached} remove={(gone) => setAttached(attached.filter((each) => each.id !== gone))} />
      <UploadList uploads={uploads} />
      <div className="row">
        <button type="button" className="plain" onClick={() => setChoosing(true)}>
          {say('attachWork')}
        </button>
        <FileButton take={uploads.take} />
        <button type="submit" className="primary" disabled={!isReady}>
          {say('send')}
        </button>
      </div>
      {isChoosing && <WorkChoice chosen={attach} close={() => setChoosing(false)} />}
    </form>
  );
}

function AttachedList({ attached, remove }: { attached: Attached[]; remove: (id: string) => void }) {
  const { say } = useStudio();
  if (attached.length === 0) return null;
  return (
    <ul className="attached" aria-label={say('attached')}>
      {attached.map(({ id, title }) => (
        <li key={id} className="chip">
          {title}
          <button type="button" className="plain" aria-label={say('detach', { title })} onClick={() => remove(id)}>
            ✕
          </button>
        </li>
      ))}
    </ul>
  );
}

export function FileButton({ take, className = 'plain' }: { take: (files: File[]) => void; className?: string }) {
  const { say } = useStudio();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" className={className} onClick={() => input.current?.click()}>
        {say('attachFile')}
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          take([...(event.target.files ?? [])]);
          event.target.value = '';
        }}
      />
    </>
  );
}
