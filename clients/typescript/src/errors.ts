/**
 * What can go wrong between a program and the server, by code.
 *
 * Invariants
 * - Every refusal and every fault reaches the caller as an `AtelierError` with the server's own code and words.
 * - A server that can not be reached has the code of one that can not answer now: the caller's choice is the same.
 */

/** Every code that the server gives. */
export const CODES = [
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'BAD_REQUEST',
  'BAD_USER_INPUT',
  'PERSISTED_QUERY_NOT_SUPPORTED',
  'PERSISTED_DOCUMENT_NOT_FOUND',
  'PERSISTED_DOCUMENT_REQUIRED',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'NOT_FOUND',
  'CONFLICT',
  'IDEMPOTENCY_KEY_REUSED',
  'CURSOR_INVALID',
  'CURSOR_EXPIRED',
  'QUERY_TOO_COMPLEX',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'NOT_ACCEPTABLE',
  'METHOD_NOT_ALLOWED',
  'RATE_LIMITED',
  'TOO_MANY_OPERATIONS',
  'TIMEOUT',
  'UNAVAILABLE',
  'INTERNAL_SERVER_ERROR',
] as const;

export type ErrorCode = (typeof CODES)[number];

/** Codes after which the same request may succeed later without anybody doing something. */
const PASSING: ReadonlySet<ErrorCode> = new Set(['UNAVAILABLE', 'TIMEOUT', 'RATE_LIMITED', 'TOO_MANY_OPERATIONS']);

/** A member of `errors` in an answer of the server. */
export interface GraphQLFault {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: { readonly code?: string; readonly requestId?: string; readonly retryAfter?: number };
}

export class AtelierError extends Error {
  override readonly name = 'AtelierError';
  /** Names the request in the server's log; only where a fault was masked. */
  readonly requestId: string | undefined;
  /** When the server wants to be asked again. */
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    /** All that the server said; empty where it was not reached. */
    readonly faults: readonly GraphQLFault[] = [],
    cause?: unknown,
  ) {
    super(message, cause === undefined ? {} : { cause });
    const { requestId, retryAfter } = faults[0]?.extensions ?? {};
    this.requestId = requestId;
    this.retryAfterMs = retryAfter === undefined ? undefined : retryAfter * 1_000;
  }

  /** Whether the same request may succeed later without anybody doing something. */
  get isPassing(): boolean {
    return PASSING.has(this.code);
  }
}

/** The error that the server's `errors` tell of; the first one names the code. */
export function refusal(faults: readonly GraphQLFault[], fallback: ErrorCode = 'INTERNAL_SERVER_ERROR'): AtelierError {
  const [first] = faults;
  const code = CODES.find((known) => known === first?.extensions?.code) ?? fallback;
  return new AtelierError(code, first?.message ?? 'the server gave no reason', faults);
}

/** The error of a server that was not reached, or whose answer was lost. */
export function unreachable(cause: unknown): AtelierError {
  const text = cause instanceof Error ? cause.message : String(cause);
  return new AtelierError('UNAVAILABLE', `the server was not reached: ${text}`, [], cause);
}

/** What the code of a closed socket means; none where connecting again is all that it takes. */
export function closed(code: number, reason: string): AtelierError | undefined {
  const known: Partial<Record<number, ErrorCode>> = {
    1009: 'PAYLOAD_TOO_LARGE',
    4400: 'BAD_REQUEST',
    4401: 'UNAUTHENTICATED',
    // The contract of subscriptions has no other code for a token that is not good.
    4403: 'UNAUTHENTICATED',
    4406: 'BAD_REQUEST',
  };
  const meant = known[code];
  return meant && new AtelierError(meant, reason || `the server closed the socket with ${code}`);
}
