/**
 * The studio's start: takes the token out of the address, then shows the workspace or asks for a token.
 *
 * Not here: GraphiQL, which is a page of its own (graphiql/main.tsx).
 */
import { StrictMode, useCallback, useEffect, useMemo, useState } from 'react';
import { createRoot } from 'react-dom/client';

import { Api } from './api/client';
import { dropToken, keepToken, takeToken } from './api/token';
import { Home } from './frame/home';
import { SignIn } from './frame/sign_in';
import { applyTheme, preferredTheme } from './frame/theme';
import { preferredLanguage, rememberLanguage, type Language } from './strings';
import './styles/index.css';

applyTheme(preferredTheme());

function App() {
  const [token, setToken] = useState(takeToken);
  const [wasRefused, setRefused] = useState(false);
  const [language, setLanguage] = useState(preferredLanguage);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  useEffect(() => {
    // A link with a token may be opened in a tab that shows the studio already.
    const taken = (): void => setToken(takeToken());
    addEventListener('hashchange', taken);
    return () => removeEventListener('hashchange', taken);
  }, []);
  const api = useMemo(() => (token ? new Api(token) : null), [token]);
  const leave = useCallback(
    (isRefused: boolean) => {
      api?.dispose();
      dropToken();
      setToken(null);
      setRefused(isRefused);
    },
    [api],
  );
  const refused = useCallback(() => leave(true), [leave]);
  const signOut = useCallback(() => leave(false), [leave]);
  const signIn = (entered: string): void => {
    keepToken(entered);
    setRefused(false);
    setToken(entered);
  };
  const choose = (chosen: Language): void => {
    rememberLanguage(chosen);
    setLanguage(chosen);
  };
  if (!api) return <SignIn language={language} wasRefused={wasRefused} signIn={signIn} />;
  return (
    <Home key={token} api={api} language={language} setLanguage={choose} signOut={signOut} refused={refused} />
  );
}

const root = document.getElementById('root');
if (!root) throw new Error('the page has no root');
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
