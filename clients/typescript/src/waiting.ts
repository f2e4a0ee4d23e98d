/**
 * How long is waited before something is tried again.
 *
 * Invariants
 * - Waiting ends at once where the caller gives up.
 */

/** Shortest and longest pause, in milliseconds. */
export interface Pauses {
  readonly shortest: number;
  readonly longest: number;
}

/** A pause that doubles with each attempt, of which up to half is chance: not everybody comes back at once. */
export function pauseBefore(attempt: number, { shortest, longest }: Pauses): number {
  const whole = Math.min(shortest * 2 ** attempt, longest);
  return whole * (0.5 + Math.random() / 2);
}

/** Waits, or less where the signal is given. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });
}
