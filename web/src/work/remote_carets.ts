/**
 * Where others are in a text: a caret with a name, in the colour of each.
 *
 * Invariants
 * - Places travel as Yjs relative positions, so that they stay right whatever is typed before them.
 * - Everything is said with classes: the page's policy refuses style attributes.
 */
import { StateEffect, type Extension } from '@codemirror/state';
import {
  Decoration,
  EditorView,
  ViewPlugin,
  WidgetType,
  type DecorationSet,
  type PluginValue,
  type ViewUpdate,
} from '@codemirror/view';
import * as Y from 'yjs';

import type { Live } from './live';
import { colourOf } from './presence';

const COLOURS = ['#c2410c', '#15803d', '#1d4ed8', '#a21caf', '#0f766e', '#b45309'];

export const remoteCaretTheme: Extension = EditorView.theme({
  '.caret': { position: 'relative', borderLeft: '2px solid var(--who)', marginLeft: '-1px', marginRight: '-1px' },
  '.caret > span': {
    position: 'absolute',
    bottom: '100%',
    left: '-2px',
    padding: '0 4px',
    font: '11px/1.4 system-ui, sans-serif',
    color: '#fff',
    background: 'var(--who)',
    borderRadius: '4px 4px 4px 0',
    whiteSpace: 'nowrap',
    pointerEvents: 'none',
  },
  ...Object.fromEntries(COLOURS.map((colour, index) => [`.colour-${index}`, { '--who': colour }])),
});

class Caret extends WidgetType {
  constructor(
    private readonly name: string,
    private readonly colour: string,
  ) {
    super();
  }

  override eq(other: Caret): boolean {
    return other.name === this.name && other.colour === this.colour;
  }

  override toDOM(): HTMLElement {
    const caret = document.createElement('span');
    caret.className = `caret ${this.colour}`;
    const label = document.createElement('span');
    label.textContent = this.name;
    caret.append(label);
    return caret;
  }
}

interface Shown {
  user?: { name?: unknown };
  caret?: unknown;
}

const moved = StateEffect.define<null>();

/** Shows the carets of others, and tells them of one's own. */
export function remoteCarets({ awareness, document: content }: Live, text: Y.Text): Extension {
  class Carets implements PluginValue {
    decorations: DecorationSet = Decoration.none;
    private readonly redraw = (): void => {
      // Awareness may change in the middle of an update of the view.
      queueMicrotask(() => !this.isGone && this.view.dispatch({ effects: moved.of(null) }));
    };
    private isGone = false;

    constructor(private readonly view: EditorView) {
      awareness.on('change', this.redraw);
      this.decorations = this.read();
    }

    update(update: ViewUpdate): void {
      if (update.selectionSet || update.docChanged || update.focusChanged) this.tell();
      this.decorations = this.read();
    }

    destroy(): void {
      this.isGone = true;
      awareness.off('change', this.redraw);
      awareness.setLocalStateField('caret', null);
    }

    private tell(): void {
      const { head } = this.view.state.selection.main;
      const caret = this.view.hasFocus ? Y.createRelativePositionFromTypeIndex(text, Math.min(head, text.length)) : null;
      const known = awareness.getLocalState()?.['caret'];
      const next = caret && JSON.stringify(caret);
      if ((known ?? null) !== next) awareness.setLocalStateField('caret', next);
    }

    private read(): DecorationSet {
      const carets = [...awareness.getStates()].flatMap(([client, state]) => {
        const { user, caret } = state as Shown;
        if (client === awareness.clientID || typeof caret !== 'string') return [];
        const at = placeOf(caret, content, text);
        const name = typeof user?.name === 'string' ? user.name : '?';
        return at === null || at > this.view.state.doc.length
          ? []
          : [Decoration.widget({ widget: new Caret(name, colourOf(client)), side: 1 }).range(at)];
      });
      return Decoration.set(carets, true);
    }
  }
  return ViewPlugin.fromClass(Carets, { decorations: ({ decorations }) => decorations });
}

/** Where a caret is; null for what another client sent that is none. */
function placeOf(caret: string, content: Y.Doc, text: Y.Text): number | null {
  try {
    const relative = Y.createRelativePositionFromJSON(JSON.parse(caret));
    const place = Y.createAbsolutePositionFromRelativePosition(relative, content);
    return place?.type === text ? place.index : null;
  } catch {
    return null;
  }
}
