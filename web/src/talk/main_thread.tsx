/** The conversation: the one place to say anything, with what came of it and what waits for an answer. */
import { useState } from 'react';

import { Notice } from '../frame/notice';
import { MainThread as MainThreadQuery, OpenCards } from '../operations/generated';
import { useLiveQuery, useRoom, useStudio } from '../studio';
import { CardView } from './card_view';
import { Thread } from './thread';

const PAGE = 30;
/** As many as the API gives at once. */
const MOST = 100;

export function MainThread({ go: _go }: { go: (hash: string) => void }) {
  const { say } = useStudio();
  const { workspaceId } = useRoom();
  const [last, setLast] = useState(PAGE);
  const thread = useLiveQuery(MainThreadQuery, { id: workspaceId, last }, ({ kind }) =>
    /^(MESSAGE_|TASK_STATUS|TASK_CREATED)/.test(kind),
  );
  const cards = useLiveQuery(OpenCards, { id: workspaceId }, ({ kind }) => kind.startsWith('CARD_'));
  const page = thread.data?.workspace?.mainThread;
  if (!page) return <Notice error={thread.error} retry={thread.refresh} />;
  const hasMore = page.pageInfo.hasPreviousPage && last < MOST;
  return (
    <section className="talk" aria-label={say('conversation')}>
      <h1>{say('conversation')}</h1>
      <Thread
        messages={page.nodes}
        earlier={hasMore ? () => setLast(Math.min(last + PAGE, MOST)) : null}
        refresh={thread.refresh}
        empty={(choose) => <Welcome choose={choose} />}
        label={say('writeToAgent')}
        after={
          <div className="questions" aria-live="polite">
            {cards.data?.workspace?.openCards.map((card) => (
              <CardView key={card.id} card={card} inTask={false} refresh={cards.refresh} />
            ))}
          </div>
        }
      />
    </section>
  );
}

const EXAMPLES = ['welcomeExample1', 'welcomeExample2', 'welcomeExample3'] as const;

function Welcome({ choose }: { choose: (text: string) => void }) {
  const { say } = useStudio();
  return (
    <div className="welcome">
      <h2>{say('welcomeTitle')}</h2>
      <p>{say('welcomeText')}</p>
      <ul>
        {EXAMPLES.map((example) => (
          <li key={example}>
            <button type="button" onClick={() => choose(say(example))}>
              {say(example)}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
