/**
 * GraphiQL on this server, offline: every part of it comes from the server itself.
 *
 * Invariants
 * - Nothing is asked of the server before there is a token; the token lies in sessionStorage, never in GraphiQL's own storage.
 * - The schema comes as SDL from the server, because introspection is off.
 */
import 'graphiql/setup-workers/vite';
import 'graphiql/style.css';
import './graphiql.css';

import type { Fetcher } from '@graphiql/toolkit';
import { GraphiQL } from 'graphiql';
import { buildSchema, getOperationAST, type GraphQLSchema } from 'graphql';
import { StrictMode, useEffect, useMemo, useState } from 'react';
import { createRoot } from 'react-dom/client';

import { createSocketClient, request } from '../src/api/client';
import { SignIn } from '../src/frame/sign_in';
import { preferredLanguage, say } from '../src/strings';
import { dropToken, keepToken, takeToken } from '../src/api/token';

const FIRST_QUERY = `# Who am I, and what can I see?
{
  viewer {
    user { id name }
    workspaces(first: 10) { nodes { id name viewerRole } }
  }
}
`;

const language = preferredLanguage();

type Loaded = { schema: GraphQLSchema } | { fault: 'refused' | 'unavailable' };

function App() {
  const [token, setToken] = useState(takeToken);
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  useEffect(() => {
    if (!token) return undefined;
    const stopped = new AbortController();
    void load(token, stopped.signal).then((result) => {
      if (stopped.signal.aborted) return;
      setLoaded(result);
      if ('fault' in result && result.fault === 'refused') {
        dropToken();
        setToken(null);
      }
    });
    return () => stopped.abort();
  }, [token]);
  const fetcher = useMemo(() => (token ? fetcherFor(token) : null), [token]);
  if (!token || !fetcher) {
    const wasRefused = loaded !== null && 'fault' in loaded && loaded.fault === 'refused';
    return <SignIn language={language} wasRefused={wasRefused} signIn={(entered) => signIn(entered, setToken)} />;
  }
  if (!loaded) return <p className="notice">{say('loading', language)}</p>;
  if ('fault' in loaded) return <p role="alert">{say('errorUnavailable', language)}</p>;
  return (
    <GraphiQL
      fetcher={fetcher}
      schema={loaded.schema}
      defaultQuery={FIRST_QUERY}
      isHeadersEditorEnabled={false}
      showPersistHeadersSettings={false}
    />
  );
}

function signIn(token: string, setToken: (token: string) => void): void {
  keepToken(token);
  setToken(token);
}

async function load(token: string, signal: AbortSignal): Promise<Loaded> {
  try {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch('/graphql/schema.graphql', { headers, signal });
    if (response.status === 401) return { fault: 'refused' };
    if (!response.ok) return { fault: 'unavailable' };
    return { schema: buildSchema(await response.text()) };
  } catch (reason) {
    console.warn('the schema could not be read', reason);
    return { fault: 'unavailable' };
  }
}

/** Queries and mutations go over HTTP, subscriptions over one WebSocket. */
function fetcherFor(token: string): Fetcher {
  const sockets = createSocketClient(token);
  return async (parameters, options) => {
    const { query, variables, operationName } = parameters;
    const operation = options?.documentAST && getOperationAST(options.documentAST, operationName ?? undefined);
    if (operation?.operation === 'subscription') {
      return sockets.iterate({ query, variables: variables ?? null, operationName: operationName ?? null });
    }
    const response = await request(token, { query, variables, operationName });
    return response.json();
  };
}

const root = document.getElementById('root');
if (!root) throw new Error('the page has no root');
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
