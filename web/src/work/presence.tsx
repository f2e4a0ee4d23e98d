/** Who has a work open: people and the agent, oneself marked. */
import { useStudio } from '../studio';
import { usePresence, type Live, type Present } from './live';

/** As many colours as there are in the style sheet. */
const COLOURS = 6;

/** The class with the colour of somebody. */
export function colourOf(client: number): string {
  return `colour-${client % COLOURS}`;
}

export function PresenceList({ live }: { live: Live }) {
  const { say } = useStudio();
  const present = usePresence(live);
  return (
    <div className="presence">
      <span className="label">{say('here')}</span>
      <PresentNames present={present} />
    </div>
  );
}

export function PresentNames({ present }: { present: Present[] }) {
  const { say } = useStudio();
  return (
    <ul className="names">
      {present.map(({ client, isSelf, isAgent, name }) => (
        <li key={client} className={`name ${colourOf(client)}`}>
          {isAgent ? `✳ ${say('agent')}` : (name ?? say('somebody'))}
          {isSelf && ` (${say('you')})`}
        </li>
      ))}
    </ul>
  );
}
