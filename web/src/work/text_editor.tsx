/**
 * The editor of a text: CodeMirror on the shared Y.Text, with a view of the Markdown beside it.
 *
 * Invariants
 * - It lives in a shadow root: there its style sheets are adopted by script, which the page's policy lets through, while
 *   style elements would be refused.
 * - Undo takes back what was typed here, never what others typed.
 */
import { defaultKeymap, history, indentWithTab } from '@codemirror/commands';
import { markdown } from '@codemirror/lang-markdown';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, keymap, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef, useState } from 'react';
import { yCollab, yUndoManagerKeymap } from 'y-codemirror.next';
import * as Y from 'yjs';

import { Markdown } from '../frame/markdown';
import { useStudio } from '../studio';
import type { Live } from './live';
import { remoteCarets, remoteCaretTheme } from './remote_carets';

const THEME = EditorView.theme({
  '&': { color: 'inherit', backgroundColor: 'transparent', font: 'inherit', height: '100%' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '2px' },
  '.cm-scroller': { fontFamily: 'inherit', lineHeight: '1.6', padding: '0.75rem 1rem' },
  '.cm-content': { caretColor: 'var(--ink)', maxWidth: '44rem' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--selected)',
  },
});

const HIGHLIGHT = HighlightStyle.define([
  { tag: tags.heading1, fontSize: '1.5em', fontWeight: '650' },
  { tag: tags.heading2, fontSize: '1.25em', fontWeight: '650' },
  { tag: tags.heading, fontWeight: '650' },
  { tag: tags.strong, fontWeight: '650' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.link, color: 'var(--accent)' },
  { tag: tags.url, color: 'var(--quiet)' },
  { tag: tags.monospace, fontFamily: 'ui-monospace, monospace' },
  { tag: tags.processingInstruction, color: 'var(--quiet)' },
]);

export function TextEditor({ live, isReadOnly }: { live: Live; isReadOnly: boolean }) {
  const { say } = useStudio();
  const [isReading, setReading] = useState(false);
  const text = live.document.getText('text');
  return (
    <div className="text-place">
      <div className="row">
        <button type="button" aria-pressed={isReading} onClick={() => setReading(!isReading)}>
          {say(isReading ? 'write' : 'preview')}
        </button>
      </div>
      {isReading ? <Preview text={text} /> : <Editor live={live} text={text} isReadOnly={isReadOnly} />}
    </div>
  );
}

function Editor({ live, text, isReadOnly }: { live: Live; text: Y.Text; isReadOnly: boolean }) {
  const { say } = useStudio();
  const host = useRef<HTMLDivElement>(null);
  const label = say('TEXT');
  const hint = say('textHint');
  useEffect(() => {
    if (!host.current) return undefined;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    const undoManager = new Y.UndoManager(text);
    const state = EditorState.create({
      doc: text.toString(),
      extensions: [
        keymap.of([...yUndoManagerKeymap, indentWithTab, ...defaultKeymap]),
        history(),
        markdown(),
        syntaxHighlighting(HIGHLIGHT),
        drawSelection(),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'true' }),
        EditorState.readOnly.of(isReadOnly),
        EditorView.editable.of(!isReadOnly),
        placeholder(hint),
        THEME,
        remoteCaretTheme,
        // Without its own carets of others, which would need styles that the page's policy refuses.
        yCollab(text, null, { undoManager }),
        remoteCarets(live, text),
      ],
    });
    const view = new EditorView({ state, parent: root, root });
    return () => {
      view.destroy();
      undoManager.destroy();
      root.replaceChildren();
    };
  }, [live, text, isReadOnly, label, hint]);
  return <div ref={host} className="text-editor" />;
}

function Preview({ text }: { text: Y.Text }) {
  const [words, setWords] = useState(() => text.toString());
  useEffect(() => {
    const read = (): void => setWords(text.toString());
    text.observe(read);
    return () => text.unobserve(read);
  }, [text]);
  return (
    <article className="text-preview">
      <Markdown text={words} />
    </article>
  );
}
