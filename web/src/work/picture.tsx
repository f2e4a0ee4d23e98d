/** The picture of a shot or item: an asset that one of its fields names; chosen, dropped or pasted by a person. */
import { useState } from 'react';
import type * as Y from 'yjs';

import { Refusal } from '../frame/notice';
import { AssetFile } from '../operations/generated';
import { useDoing, useLiveQuery, useRoom, useStudio } from '../studio';
import { upload } from '../talk/upload';
import { WorkChoice } from '../talk/work_choice';
import { assetOf, PICTURE } from './asset_reference';
import type { Shot } from './storyboard';

interface Properties {
  content: Y.Doc;
  shot: Shot;
  isReadOnly: boolean;
}

export function Picture({ content, shot, isReadOnly }: Properties) {
  const { api, say } = useStudio();
  const { workspaceId } = useRoom();
  const [isChoosing, setChoosing] = useState(false);
  const [part, setPart] = useState<number | null>(null);
  const assetId = assetOf(shot);
  const set = (id: string): void => void content.transact(() => shot.set(PICTURE, id));
  const sending = useDoing(async (file: File) => {
    try {
      set(await upload(api, workspaceId, file, setPart));
    } finally {
      setPart(null);
    }
  });
  const take = (files: FileList): void => {
    const file = [...files].find(({ type }) => type.startsWith('image/'));
    if (file) void sending.run(file);
  };
  if (isReadOnly) return assetId && <AssetPicture assetId={assetId} />;
  return (
    <div
      className={assetId ? 'picture' : 'picture none'}
      onDragOver={(event) => event.dataTransfer.types.includes('Files') && event.preventDefault()}
      onDrop={(event) => {
        if (event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        take(event.dataTransfer.files);
      }}
    >
      {assetId && <AssetPicture assetId={assetId} />}
      {part !== null && <progress value={part} aria-label={say('uploading')} />}
      <button type="button" className="plain" onClick={() => setChoosing(true)}>
        {say(assetId ? 'changePicture' : 'choosePicture')}
      </button>
      <Refusal error={sending.error} />
      {isChoosing && <WorkChoice kinds={['ASSET']} chosen={({ id }) => set(id)} close={() => setChoosing(false)} />}
    </div>
  );
}

/** A small picture of an asset, by its signed address. */
export function AssetPicture({ assetId }: { assetId: string }) {
  const { data } = useLiveQuery(AssetFile, { id: assetId }, ({ subject }) => subject?.id === assetId);
  const asset = data?.node;
  if (!asset || !('url' in asset) || !asset.sha256) return null;
  const source = asset.previewUrl ?? (asset.mediaType.startsWith('image/') ? asset.url : null);
  return source && <img src={source} alt={asset.title} loading="lazy" />;
}
