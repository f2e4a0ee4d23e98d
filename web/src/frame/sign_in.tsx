/** Asks for a token where none was brought along. */
import { useState } from 'react';

import { say, type Language } from '../strings';

interface Properties {
  language: Language;
  /** Whether there was a token that the server does not accept. */
  wasRefused: boolean;
  signIn: (token: string) => void;
}

export function SignIn({ language, wasRefused, signIn }: Properties) {
  const [token, setToken] = useState('');
  return (
    <main className="sign-in">
      <h1>Atelier</h1>
      {wasRefused && <p role="alert">{say('tokenRefused', language)}</p>}
      <p>{say('tokenHint', language)}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          signIn(token.trim());
        }}
      >
        <label>
          {say('token', language)}
          <input
            type="password"
            autoComplete="off"
            required
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        <button type="submit" className="primary" disabled={token.trim() === ''}>
          {say('signIn', language)}
        </button>
      </form>
    </main>
  );
}
