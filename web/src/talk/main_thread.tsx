/** The conversation: the one place to say anything, with what came of it and what waits for an answer. */
import { Notice } from '../frame/notice';
import { MainThread as MainThreadQuery, OpenCards } from '../operations/generated';
import { useLivePages, useLiveQuery, useRoom, useStudio } from '../studio';
import { CardView } from './card_view';
import { Thread } from './thread';

const PAGE = 30;

export function MainThread({ go: _go }: { go: (hash: string) => void }) {
  const { say } = useStudio();
  const { workspaceId } = useRoom();
  const { list, error, refresh, more } = useLivePages(
    MainThreadQuery,
    { id: workspaceId, last: PAGE },
    {
      direction: 'before',
      connection: ({ workspace }) => workspace?.mainThread,
      concerns: ({ kind }) => /^(MESSAGE_|TASK_STATUS|TASK_CREATED)/.test(kind),
    },
  );
  const cards = useLiveQuery(OpenCards, { id: workspaceId }, ({ kind }) => kind.startsWith('CARD_'));
  if (!list) return <Notice error={error} retry={refresh} />;
  return (
    <section className="talk" aria-label={say('conversation')}>
      <h1>{say('conversation')}</h1>
      <Thread
        list={list}
        more={more}
        refresh={refresh}
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
