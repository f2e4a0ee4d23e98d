/** An asset: its picture, film or sound, what it is, and its bytes; a new version can be put in its place. */
import { useRef, useState } from 'react';

import { having } from '../api/operation';
import { Notice, Refusal } from '../frame/notice';
import { AssetFile } from '../operations/generated';
import { useDoing, useLiveQuery, useRoom, useStudio } from '../studio';
import { upload } from '../talk/upload';

export function AssetView({ workId }: { workId: string }) {
  const { say, language } = useStudio();
  const { isReadOnly } = useRoom();
  const { data, error, refresh } = useLiveQuery(AssetFile, { id: workId }, ({ subject }) => subject?.id === workId);
  const asset = having(data?.node, 'url');
  if (!asset) return <Notice error={error} retry={refresh} />;
  const { title, mediaType, byteSize, sha256, url, previewUrl } = asset;
  const size = new Intl.NumberFormat(language, { style: 'unit', unit: 'kilobyte', maximumFractionDigits: 1 });
  // Before its bytes are there an asset has no hash.
  const isThere = sha256 !== '';
  return (
    <figure className="asset">
      {!isThere && <p className="quiet">{say('notUploaded')}</p>}
      {isThere && mediaType.startsWith('video/') && <video src={url} controls {...(previewUrl && { poster: previewUrl })} />}
      {isThere && mediaType.startsWith('audio/') && <audio src={url} controls />}
      {isThere && mediaType.startsWith('image/') && <img src={url} alt={title} />}
      {isThere && !/^(video|audio|image)\//.test(mediaType) && previewUrl && <img src={previewUrl} alt={title} />}
      <figcaption>
        {mediaType}
        {isThere && (
          <>
            , {size.format(byteSize / 1000)}{' '}
            <a href={url} download={title}>
              {say('download')}
            </a>
          </>
        )}
      </figcaption>
      {!isReadOnly && <NextVersion workId={workId} refresh={refresh} />}
    </figure>
  );
}

function NextVersion({ workId, refresh }: { workId: string; refresh: () => void }) {
  const { api, say } = useStudio();
  const { workspaceId } = useRoom();
  const input = useRef<HTMLInputElement>(null);
  const [part, setPart] = useState<number | null>(null);
  const doing = useDoing(async (file: File) => {
    try {
      await upload(api, workspaceId, file, setPart, workId);
      refresh();
    } finally {
      setPart(null);
    }
  });
  return (
    <>
      <button type="button" disabled={doing.isBusy} onClick={() => input.current?.click()}>
        {say('nextVersion')}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        onChange={(event) => {
          const file = event.target.files?.[0];
          if (file) void doing.run(file);
          event.target.value = '';
        }}
      />
      {part !== null && <progress value={part} aria-label={say('uploading')} />}
      <Refusal error={doing.error} />
    </>
  );
}
