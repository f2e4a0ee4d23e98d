/** What can be made here: by whom, out of what, at what price. */
import { Notice } from '../frame/notice';
import { Abilities } from '../operations/generated';
import { money } from '../strings/moments';
import { useQuery, useRoom, useStudio } from '../studio';
import { MEDIA_SIGNS } from './job_row';

export function AbilitiesPage() {
  const { say, language } = useStudio();
  const { workspaceId } = useRoom();
  const { data, error, refresh } = useQuery(Abilities, { id: workspaceId });
  const abilities = data?.workspace?.capabilities;
  if (!abilities) return <Notice error={error} retry={refresh} />;
  return (
    <>
      <p className="quiet lead">{say('abilitiesLead')}</p>
      {abilities.length === 0 && <p className="empty">{say('noAbilities')}</p>}
      <ul className="abilities">
        {abilities.map(({ name, provider, media, description, inputs, price, available }) => (
          <li key={`${provider} ${name}`}>
            <article aria-label={name}>
              <p className="ability-head">
                <span className="sign" aria-hidden="true">
                  {media && MEDIA_SIGNS[media]}
                </span>
                <b>{name}</b>
                <span className="quiet">{provider}</span>
              </p>
              <p className="quiet">{media && say(`media_${media}`)}</p>
              <p lang="en">{description}</p>
              <Inputs schema={inputs} />
              <p className="ability-foot">
                <span className={available ? 'pill good' : 'pill rests'}>{say(available ? 'takesOrders' : 'takesNone')}</span>
                <b>{price ? (Number(price.micros) === 0 ? say('free') : say('eachCosts', { price: money(price, language) })) : say('priceUnknown')}</b>
              </p>
            </article>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The names of what it takes, out of its JSON Schema. */
function Inputs({ schema }: { schema: unknown }) {
  const { say } = useStudio();
  const names = namesOf(schema);
  if (names.length === 0) return null;
  return (
    <p className="quiet">
      {say('takes')}{' '}
      {names.map((name) => (
        <code key={name}>{name} </code>
      ))}
    </p>
  );
}

export function namesOf(schema: unknown): string[] {
  const properties = (schema as { properties?: unknown } | null)?.properties;
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
}
