/**
 * Files: sent as assets, and read again.
 *
 * Invariants
 * - An upload returns when the server has all bytes; one that was refused leaves the asset without any.
 * - Bytes of which it is not known whether they arrived are sent again; the address takes them once.
 */
import { AtelierError, type ErrorCode } from './errors.js';
import type { RequestOptions, Transport } from './transport.js';

/** What is uploaded. */
export interface UploadInput {
  readonly workspaceId: string;
  readonly title: string;
  /** Such as `image/png`; the server checks it against the bytes. A blob's own where nothing is said. */
  readonly mediaType?: string;
  /** A blob of a file is read while it is sent. */
  readonly bytes: Blob | Uint8Array<ArrayBuffer> | ArrayBuffer;
  /** An asset that gets these bytes as its next version. */
  readonly workId?: string;
}

const CONFLICT = 409;

/** Sends the bytes to the address that an upload was given. */
export async function put(transport: Transport, url: string, body: Blob, options: RequestOptions): Promise<void> {
  let mayHaveArrived = false;
  await transport.persist(true, options.signal, async () => {
    const sending = transport.send(url, { method: 'PUT', body, headers: typeOf(body), signal: options.signal ?? null });
    const response = await sending.catch((reason: unknown) => {
      mayHaveArrived = true;
      throw reason;
    });
    if (response.ok || (mayHaveArrived && response.status === CONFLICT)) return;
    throw await refused(response);
  });
}

/** Reads the bytes of an asset, by its `url` or `previewUrl`. */
export async function get(transport: Transport, url: string, options: RequestOptions): Promise<Response> {
  return transport.persist(true, options.signal, async () => {
    const response = await transport.send(url, { signal: options.signal ?? null });
    if (response.ok) return response;
    throw await refused(response);
  });
}

/** Bytes of any shape, with their type. */
export function blobOf({ bytes, mediaType }: UploadInput): Blob {
  const isWhole = bytes instanceof Blob && (mediaType === undefined || mediaType === bytes.type);
  const type = mediaType ?? (bytes instanceof Blob ? bytes.type : '');
  return isWhole ? bytes : new Blob([bytes], { type: type || 'application/octet-stream' });
}

function typeOf({ type }: Blob): Record<string, string> {
  return { 'content-type': type || 'application/octet-stream' };
}

async function refused(response: Response): Promise<AtelierError> {
  const status = STATUSES[response.status] ?? (response.status >= 500 ? 'UNAVAILABLE' : 'BAD_USER_INPUT');
  const text = await response.text();
  try {
    const { error } = JSON.parse(text) as { error: { message: string } };
    return new AtelierError(status, error.message);
  } catch {
    return new AtelierError(status, text || `the server answered ${response.status}`);
  }
}

const STATUSES: Partial<Record<number, ErrorCode>> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'RATE_LIMITED',
};
