/**
 * Files that a person drops, pastes or chooses: each becomes an asset of the workspace.
 *
 * Invariants
 * - Progress is told while the bytes go; a refusal comes with the server's words.
 */
import type { Api } from '../api/client';
import { ApiError } from '../api/errors';
import { MakeUpload } from '../operations/generated';

const UNKNOWN_TYPE = 'application/octet-stream';
/** Types that the server knows by their bytes; what it can not look at is sent as the type that promises nothing. */
const KNOWN_TYPES = /^(image\/(png|jpeg|gif|webp|avif|svg\+xml)|(video|audio|text)\/[\w.+-]+|application\/(json|pdf|zip|gzip|xml))$/;

/** The type under which a file is sent. */
export function typeOf({ type }: { type: string }): string {
  const plain = type.split(';')[0]?.trim().toLowerCase() ?? '';
  return KNOWN_TYPES.test(plain) ? plain : UNKNOWN_TYPE;
}

/** Sends a file and returns the id of its asset. */
export async function upload(
  api: Api,
  workspaceId: string,
  file: File,
  tell: (part: number) => void,
  workId?: string,
): Promise<string> {
  const input = {
    workspaceId,
    title: file.name.slice(0, 200) || 'file',
    mediaType: typeOf(file),
    byteSize: file.size,
    ...(workId && { workId }),
  };
  const { createUpload } = await api.run(MakeUpload, { input });
  // The server that the studio came from takes the bytes, by whatever name the browser knows it; the path is signed.
  const { pathname, search } = new URL(createUpload.uploadUrl, location.href);
  await put(pathname + search, api.token, file, tell);
  return createUpload.asset.id;
}

/** `fetch` tells nothing of what is under way, so this is the older way. */
function put(url: string, token: string, file: File, tell: (part: number) => void): Promise<void> {
  return new Promise((done, fail) => {
    const sending = new XMLHttpRequest();
    sending.open('PUT', url);
    sending.setRequestHeader('authorization', `Bearer ${token}`);
    sending.setRequestHeader('content-type', typeOf(file));
    sending.upload.onprogress = ({ loaded, total }) => tell(total > 0 ? loaded / total : 0);
    sending.onload = () => {
      if (sending.status < 300) done();
      else fail(new ApiError('BAD_USER_INPUT', messageOf(sending.responseText) ?? `HTTP ${sending.status}`));
    };
    sending.onerror = () => fail(new ApiError('UNAVAILABLE', 'the connection broke'));
    sending.send(file);
  });
}

function messageOf(text: string): string | null {
  try {
    const parsed = JSON.parse(text) as { message?: string; errors?: { message?: string }[] };
    return parsed.errors?.[0]?.message ?? parsed.message ?? null;
  } catch {
    return null;
  }
}
