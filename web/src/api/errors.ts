/**
 * What can go wrong between the studio and the server.
 *
 * Invariants
 * - Every refusal carries the server's code, so that the studio can say it in the person's language with the next step.
 */
import type { Word } from '../strings';

/** A refusal, or no answer at all (`UNAVAILABLE`). */
export class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Whatever was thrown, as an `ApiError`. */
export function asApiError(reason: unknown): ApiError {
  return reason instanceof ApiError ? reason : new ApiError('UNKNOWN', String(reason));
}

/** Whether asking again later can help without anybody doing something. */
export function isPassing({ code }: ApiError): boolean {
  return code === 'UNAVAILABLE' || code === 'RATE_LIMITED' || code === 'TIMEOUT';
}

const WORDS: Record<string, Word> = {
  UNAVAILABLE: 'errorUnavailable',
  RATE_LIMITED: 'errorRateLimited',
  TIMEOUT: 'errorTimeout',
  UNAUTHENTICATED: 'tokenRefused',
  FORBIDDEN: 'errorForbidden',
  NOT_FOUND: 'errorNotFound',
};

/** What a person is told; the server's own words follow where they say what was wrong with the input. */
export function inWords(error: ApiError, say: (word: Word) => string): string {
  const word = WORDS[error.code];
  if (word) return say(word);
  return `${say('errorRefused')} ${error.message}`;
}
