/** Light, dark, or as the system says; remembered for the next visit. */
import { useState } from 'react';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'atelier.theme';

/** The theme that was chosen here. */
export function preferredTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

/** Makes the page look so. */
export function applyTheme(theme: Theme): void {
  const { dataset } = document.documentElement;
  if (theme === 'system') delete dataset.theme;
  else dataset.theme = theme;
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(preferredTheme);
  const choose = (chosen: Theme): void => {
    localStorage.setItem(KEY, chosen);
    applyTheme(chosen);
    setTheme(chosen);
  };
  return [theme, choose];
}
