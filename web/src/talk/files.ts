/**
 * What is looked at before a file is sent, so that nobody waits for a refusal that was sure from the beginning.
 *
 * Not here: what the server looks at, such as whether the bytes are what their type says.
 */
import type { Word } from '../strings';

/** As many files as are taken at once. */
export const MOST_FILES = 20;
/** What a size can be at most in the API. */
const MOST_BYTES = 2 ** 31 - 1;

/** Why a file can not be sent, if it can not. */
export function faultOf({ size, name }: { size: number; name: string }): Word | null {
  if (size === 0) return 'fileEmpty';
  if (size > MOST_BYTES) return 'fileTooLarge';
  return name.length > 200 ? 'fileNameTooLong' : null;
}

/** The files of a drop or a paste; folders are left out and named. */
export function filesOf(transfer: Pick<DataTransfer, 'files' | 'items'>): { files: File[]; folders: string[] } {
  const folders = [...transfer.items].flatMap((item) => {
    const entry = item.kind === 'file' && 'webkitGetAsEntry' in item ? item.webkitGetAsEntry() : null;
    return entry?.isDirectory ? [entry.name] : [];
  });
  return { files: [...transfer.files].filter(({ name }) => !folders.includes(name)), folders };
}
