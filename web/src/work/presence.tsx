/** Who has a work open. */
import { useStudio } from '../studio';
import { usePresence, type Live, type Present } from './live';

/** As many colours as there are in the style sheet. */
const COLOURS = 6;

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
      {present.map(({ client, isSelf, name }) => (
        <li key={client} className={`name colour-${client % COLOURS}`}>
          {name ?? say('somebody')}
          {isSelf && ` (${say('you')})`}
        </li>
      ))}
    </ul>
  );
}
