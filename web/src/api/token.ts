/**
 * The token that a person signed in with, for as long as the tab is open.
 *
 * Invariants
 * - A token comes in the address's fragment, which browsers never send, and is taken out of the address at once.
 * - It lies in sessionStorage only: another tab asks for its own.
 */

const KEY = 'atelier.token';
const FRAGMENT = '#token=';

/** Takes the token out of the address, if one is there, and returns the one that is kept. */
export function takeToken(): string | null {
  if (location.hash.startsWith(FRAGMENT)) {
    const token = decodeURIComponent(location.hash.slice(FRAGMENT.length));
    history.replaceState(null, '', location.pathname);
    keepToken(token);
  }
  return sessionStorage.getItem(KEY);
}

/** Keeps a token until the tab is closed. */
export function keepToken(token: string): void {
  sessionStorage.setItem(KEY, token.trim());
}

/** Forgets the token. */
export function dropToken(): void {
  sessionStorage.removeItem(KEY);
}
