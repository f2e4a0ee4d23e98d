/**
 * Files under way: each with how far it is, or why it was not taken; one that fails holds up none of the others.
 */
import { useCallback, useEffect, useRef, useState } from 'react';

import { asApiError, inWords } from '../api/errors';
import { useRoom, useStudio } from '../studio';
import { faultOf, filesOf, MOST_FILES } from './files';
import { randomKey } from './outbox';
import { upload } from './upload';

export interface Sending {
  key: string;
  name: string;
  /** From 0 to 1. */
  part: number;
  /** Why it was not taken. */
  fault: string | null;
}

export interface Uploads {
  sending: readonly Sending[];
  isBusy: boolean;
  /** Sends files one after the other. */
  take: (files: readonly File[]) => void;
  /** The same for what was dropped or pasted; whether there were files in it. */
  takeFrom: (transfer: Pick<DataTransfer, 'files' | 'items'>) => boolean;
  drop: (key: string) => void;
}

/** Sends files; each asset is told with the file's name and place as soon as its bytes are there. */
export function useUploads(done: (asset: { id: string; title: string }, file: File) => void): Uploads {
  const { api, say } = useStudio();
  const { workspaceId } = useRoom();
  const [sending, setSending] = useState<readonly Sending[]>([]);
  const latest = useRef(done);
  useEffect(() => {
    latest.current = done;
  });
  const change = useCallback(
    (key: string, part: Partial<Sending>) => setSending((before) => before.map((each) => (each.key === key ? { ...each, ...part } : each))),
    [],
  );
  const drop = useCallback((key: string) => setSending((before) => before.filter((each) => each.key !== key)), []);
  const queue = useRef<Promise<void>>(Promise.resolve());
  const refuse = useCallback(
    (name: string, fault: string) => setSending((before) => [...before, { key: randomKey(), name, part: 0, fault }]),
    [],
  );
  const take = useCallback(
    (files: readonly File[]) => {
      for (const file of files.slice(0, MOST_FILES)) {
        const fault = faultOf(file);
        if (fault) {
          refuse(file.name, say(fault));
          continue;
        }
        const key = randomKey();
        setSending((before) => [...before, { key, name: file.name, part: 0, fault: null }]);
        queue.current = queue.current.then(async () => {
          try {
            const id = await upload(api, workspaceId, file, (part) => change(key, { part }));
            drop(key);
            latest.current({ id, title: file.name }, file);
          } catch (reason) {
            change(key, { fault: inWords(asApiError(reason), say) });
          }
        });
      }
      if (files.length > MOST_FILES) refuse(say('andMore', { count: files.length - MOST_FILES }), say('tooManyFiles', { most: MOST_FILES }));
    },
    [api, workspaceId, say, change, drop, refuse],
  );
  const takeFrom = useCallback(
    (transfer: Pick<DataTransfer, 'files' | 'items'>) => {
      const { files, folders } = filesOf(transfer);
      for (const name of folders) refuse(name, say('fileIsFolder'));
      take(files);
      return files.length + folders.length > 0;
    },
    [take, refuse, say],
  );
  return { sending, isBusy: sending.some(({ fault }) => fault === null), take, takeFrom, drop };
}

export function UploadList({ uploads: { sending, drop } }: { uploads: Uploads }) {
  const { say } = useStudio();
  if (sending.length === 0) return null;
  return (
    <ul className="uploads" aria-label={say('uploading')}>
      {sending.map(({ key, name, part, fault }) => (
        <li key={key}>
          <span className="clip">{name}</span>
          {fault === null ? (
            <progress value={part} aria-label={`${say('uploading')}: ${name}`} />
          ) : (
            <>
              <span role="alert">{fault}</span>
              <button type="button" className="plain small" aria-label={say('dismiss', { name })} onClick={() => drop(key)}>
                ✕
              </button>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
