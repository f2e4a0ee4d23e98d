/** The tokens of the person: made, shown once, revoked. */
import { useState } from 'react';

import { Refusal } from '../frame/notice';
import { MakeToken, RevokeToken, type PeopleQuery, type TokenKind } from '../operations/generated';
import { moment } from '../strings/moments';
import { useDoing, useStudio } from '../studio';

interface Properties {
  tokens: PeopleQuery['viewer']['tokens'];
  refresh: () => void;
}

export function Tokens({ tokens, refresh }: Properties) {
  const { api, say, language } = useStudio();
  const revoking = useDoing(async (id: string) => {
    await api.run(RevokeToken, { input: { id } });
    refresh();
  });
  return (
    <section className="group">
      <h2>{say('tokens')}</h2>
      <ul className="rows">
        {tokens.map(({ id, label, kind, lastUsedAt }) => (
          <li key={id}>
            <span className="title">{label}</span>
            <span>{say(`token_${kind}`)}</span>
            <span className="quiet">
              {lastUsedAt ? say('lastUsed', { at: moment(lastUsedAt, language) }) : say('neverUsed')}
            </span>
            <button
              type="button"
              className="plain danger"
              disabled={revoking.isBusy}
              onClick={() => confirm(say('revokeQuestion', { label })) && void revoking.run(id)}
            >
              {say('revoke')}
            </button>
          </li>
        ))}
      </ul>
      <Refusal error={revoking.error} />
      <NewToken refresh={refresh} />
    </section>
  );
}

function NewToken({ refresh }: { refresh: () => void }) {
  const { api, say } = useStudio();
  const [label, setLabel] = useState('');
  const [kind, setKind] = useState<TokenKind>('PUBLIC_API');
  const [secret, setSecret] = useState<string | null>(null);
  const doing = useDoing(async () => {
    const { createToken } = await api.run(MakeToken, { input: { label: label.trim(), kind } });
    setLabel('');
    setSecret(createToken.secret);
    refresh();
  });
  return (
    <form
      className="inline-form"
      aria-label={say('newToken')}
      onSubmit={(event) => {
        event.preventDefault();
        void doing.run();
      }}
    >
      <label>
        {say('title')}
        <input required maxLength={100} value={label} onChange={(event) => setLabel(event.target.value)} />
      </label>
      <label>
        {say('kind')}
        <select value={kind} onChange={(event) => setKind(event.target.value as TokenKind)}>
          <option value="PUBLIC_API">{say('token_PUBLIC_API')}</option>
          <option value="PERSONAL">{say('token_PERSONAL')}</option>
        </select>
      </label>
      <button type="submit" disabled={doing.isBusy || label.trim() === ''}>
        {say('newToken')}
      </button>
      <Refusal error={doing.error} />
      {secret && (
        <p className="secret">
          {say('shownOnce')} <code>{secret}</code>
        </p>
      )}
    </form>
  );
}
