/**
 * A thread of messages with a place to write: the conversation of a person, or that of a task.
 *
 * Invariants
 * - What a person sends is seen at once and exactly once: in the outbox until it is in the thread.
 * - The view stays at the newest message as long as the person is there, and where they read otherwise.
 */
import { useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore, type ReactNode, type RefObject } from 'react';

import { inWords } from '../api/errors';
import { More } from '../frame/more';
import { Post, type MessagePartsFragment } from '../operations/generated';
import { useRoom, useStudio, type Listed } from '../studio';
import { Composer, putDraft } from './composer';
import { MessageView } from './message_view';
import { Outbox, type Entry } from './outbox';

interface Properties {
  /** The messages, the newest last. */
  list: Listed<MessagePartsFragment>;
  /** Reads earlier ones. */
  more: () => void;
  /** Asks for the thread again, after something was posted. */
  refresh: () => void;
  taskId?: string;
  /** What stands where there are no messages yet. */
  empty: (choose: (text: string) => void) => ReactNode;
  /** What follows the messages: cards, what is being done. */
  after?: ReactNode;
  label: string;
}

export function Thread({ list, more, refresh, taskId, empty, after, label }: Properties) {
  const { say } = useStudio();
  const { isReadOnly, workspaceId } = useRoom();
  const messages = list.nodes;
  const outbox = useOutbox(taskId, refresh);
  const waiting = useSyncExternalStore(outbox.subscribe, outbox.current);
  useEffect(() => outbox.settle(new Set(messages.map(({ id }) => id))), [messages, outbox]);
  const scroll = useRef<HTMLDivElement>(null);
  useStayAtEnd(scroll, messages.length + waiting.length, messages[0]?.id);
  // An entry whose message has come is shown once, as the message.
  const known = new Set(messages.map(({ id }) => id));
  const draftKey = taskId ?? workspaceId;
  const [chosen, setChosen] = useState(0);
  const choose = (text: string): void => {
    putDraft(draftKey, text);
    setChosen(chosen + 1);
  };
  const unsettled = waiting.filter(({ messageId }) => messageId === null || !known.has(messageId));
  return (
    <div className="thread">
      <div className="scroll" ref={scroll}>
        <More list={list} more={more} word="earlier" />
        {messages.length + unsettled.length === 0 && empty(choose)}
        <ol className="messages" aria-label={say('messages')} aria-live="polite" aria-relevant="additions">
          {messages.map((message, index) => (
            <MessageView
              key={message.id}
              message={message}
              namesTask={taskId === undefined && namesTask(message, messages[index - 1])}
              refresh={refresh}
            />
          ))}
          {unsettled.map((entry) => (
            <Waiting key={entry.key} entry={entry} outbox={outbox} />
          ))}
        </ol>
        {after}
      </div>
      {!isReadOnly && (
        <Composer
          key={chosen}
          label={label}
          draftKey={draftKey}
          autoFocus={chosen > 0}
          post={(draft) => outbox.post(draft)}
        />
      )}
    </div>
  );
}

/** Where a person's message went is always said; the agent's say it when they speak of another task than before. */
function namesTask(message: MessagePartsFragment, former: MessagePartsFragment | undefined): boolean {
  return message.author.kind === 'PERSON' || message.task?.id !== former?.task?.id;
}

function useOutbox(taskId: string | undefined, refresh: () => void): Outbox {
  const { api } = useStudio();
  const { workspaceId } = useRoom();
  const latest = useRef(refresh);
  useEffect(() => {
    latest.current = refresh;
  });
  const [outbox] = useState(
    () =>
      new Outbox(async ({ text, attachmentIds }, idempotencyKey) => {
        const input = { workspaceId, text, attachmentIds, idempotencyKey, ...(taskId && { taskId }) };
        const { postMessage } = await api.run(Post, { input });
        latest.current();
        return postMessage.message.id;
      }),
  );
  return outbox;
}

function Waiting({ entry, outbox }: { entry: Entry; outbox: Outbox }) {
  const { say } = useStudio();
  const { error } = entry;
  return (
    <li className="message own waiting">
      <p className="words">{entry.text}</p>
      <p className="state" role={error ? 'alert' : 'status'}>
        {error ? inWords(error, say) : say('sending')}
        {error && (
          <>
            {' '}
            <button type="button" className="plain" onClick={() => outbox.retry(entry.key)}>
              {say('retry')}
            </button>
            <button type="button" className="plain" onClick={() => outbox.drop(entry.key)}>
              {say('drop')}
            </button>
          </>
        )}
      </p>
    </li>
  );
}

/** How far from the end still counts as being there, in pixels. */
const NEAR_END = 120;

function useStayAtEnd(scroll: RefObject<HTMLDivElement | null>, count: number, first: string | undefined): void {
  const wasAtEnd = useRef(true);
  useEffect(() => {
    const box = scroll.current;
    if (!box) return undefined;
    const note = (): void => {
      wasAtEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END;
    };
    box.addEventListener('scroll', note, { passive: true });
    // Cards, and what is being done, grow without a message.
    const grown = new ResizeObserver(() => wasAtEnd.current && box.scrollTo({ top: box.scrollHeight }));
    for (const child of box.children) grown.observe(child);
    return () => {
      box.removeEventListener('scroll', note);
      grown.disconnect();
    };
  }, [scroll]);
  // Where earlier messages come in above, what one reads stays where it is.
  const before = useRef({ first, height: 0 });
  useLayoutEffect(() => {
    const box = scroll.current;
    if (!box) return;
    if (wasAtEnd.current) box.scrollTo({ top: box.scrollHeight });
    else if (before.current.first !== first) box.scrollTop += box.scrollHeight - before.current.height;
    before.current = { first, height: box.scrollHeight };
  }, [scroll, count, first]);
}
