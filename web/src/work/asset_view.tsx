/** An asset: its picture, film, sound, body or text, what it is, and its bytes; a new version can be put in its place. */
import { lazy, Suspense, useRef, useState, type DragEvent } from 'react';

import { ApiError } from '../api/errors';
import { having } from '../api/operation';
import { Notice, Refusal } from '../frame/notice';
import { AssetFile } from '../operations/generated';
import { bytes } from '../strings/moments';
import { useAsked, useDoing, useLiveQuery, useRoom, useStudio } from '../studio';
import { filesOf } from '../talk/files';
import { upload } from '../talk/upload';

const ModelView = lazy(() => import('./model_view').then(({ ModelView }) => ({ default: ModelView })));

/** Whether it is a body in space, by what it says it is or by its name: the server can not look into such files. */
export function isModel(mediaType: string, title: string): boolean {
  return /^model\/gltf/.test(mediaType) || (mediaType === 'application/octet-stream' && /\.gl(b|tf)$/i.test(title));
}

export function AssetView({ workId }: { workId: string }) {
  const { say, language } = useStudio();
  const { isReadOnly } = useRoom();
  const { data, error, refresh } = useLiveQuery(AssetFile, { id: workId }, ({ subject }) => subject?.id === workId);
  const asset = having(data?.node, 'url');
  if (!asset) return <Notice error={error} retry={refresh} />;
  const { title, mediaType, byteSize, sha256, url, previewUrl } = asset;
  // Before its bytes are there an asset has no hash.
  const isThere = sha256 !== '';
  return (
    <figure className="asset">
      {!isThere && <p className="quiet">{say('notUploaded')}</p>}
      {isThere && mediaType.startsWith('video/') && <video src={url} controls {...(previewUrl && { poster: previewUrl })} />}
      {isThere && mediaType.startsWith('audio/') && <audio src={url} controls />}
      {isThere && mediaType.startsWith('image/') && <img src={url} alt={title} />}
      {isThere && isModel(mediaType, title) && (
        <Suspense fallback={<Notice error={null} retry={refresh} />}>
          <ModelView key={sha256} url={url} title={title} />
        </Suspense>
      )}
      {isThere && /^(text\/|application\/json)/.test(mediaType) && <TextFile key={sha256} url={url} byteSize={byteSize} />}
      {isThere && !/^(video|audio|image|model)\//.test(mediaType) && previewUrl && <img src={previewUrl} alt={title} />}
      <figcaption>
        {isModel(mediaType, title) ? say('media_MODEL_3D') : mediaType}
        {isThere && (
          <>
            , {bytes(byteSize, language)}{' '}
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

/** As much of a text as is shown. */
const SHOWN_BYTES = 200_000;

function TextFile({ url, byteSize }: { url: string; byteSize: number }) {
  const { say } = useStudio();
  const { data, error, refresh } = useAsked(async () => {
    const response = await fetch(url, { headers: { range: `bytes=0-${SHOWN_BYTES - 1}` } });
    if (!response.ok) throw new ApiError('UNAVAILABLE', `HTTP ${response.status}`);
    return response.text();
  }, url);
  if (data === null) return <Notice error={error} retry={refresh} />;
  return (
    <>
      <pre className="data text-file" tabIndex={0}>
        {data}
      </pre>
      {byteSize > SHOWN_BYTES && <p className="quiet">{say('onlyBeginning')}</p>}
    </>
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
  const dropped = (event: DragEvent): void => {
    const [file] = filesOf(event.dataTransfer).files;
    if (!file) return;
    event.preventDefault();
    void doing.run(file);
  };
  return (
    <div className="row" onDragOver={(event) => event.dataTransfer.types.includes('Files') && event.preventDefault()} onDrop={dropped}>
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
    </div>
  );
}
