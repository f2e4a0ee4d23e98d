/** The picture of a shot or item: an asset that one of its fields names; chosen, dropped or pasted by a person. */
import { useState, type ClipboardEvent, type DragEvent } from 'react';
import type * as Y from 'yjs';

import { having } from '../api/operation';
import { AssetFile } from '../operations/generated';
import { useLiveQuery, useQuery, useStudio } from '../studio';
import { UploadList, useUploads } from '../talk/uploads';
import { WorkChoice } from '../talk/work_choice';
import { assetOf, PICTURE } from './asset_reference';
import type { Shot } from './storyboard';

interface Properties {
  content: Y.Doc;
  shot: Shot;
  isReadOnly: boolean;
}

export function Picture({ content, shot, isReadOnly }: Properties) {
  const { say } = useStudio();
  const [isChoosing, setChoosing] = useState(false);
  const [isRefused, setRefused] = useState(false);
  const assetId = assetOf(shot);
  const set = (id: string): void => void content.transact(() => shot.set(PICTURE, id));
  const uploads = useUploads(({ id }) => set(id));
  const take = (event: DragEvent | ClipboardEvent, files: FileList): void => {
    if (files.length === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const file = [...files].find(({ type }) => type.startsWith('image/'));
    setRefused(!file);
    if (file) uploads.take([file]);
  };
  if (isReadOnly) return assetId && <AssetPicture assetId={assetId} />;
  return (
    <div
      className={assetId ? 'picture' : 'picture none'}
      onDragOver={(event) => event.dataTransfer.types.includes('Files') && event.preventDefault()}
      onDrop={(event) => take(event, event.dataTransfer.files)}
      onPaste={(event) => take(event, event.clipboardData.files)}
    >
      {assetId && <AssetPicture assetId={assetId} />}
      <UploadList uploads={uploads} />
      <button type="button" className="plain" onClick={() => setChoosing(true)}>
        {say(assetId ? 'changePicture' : 'choosePicture')}
      </button>
      {isRefused && <p role="alert">{say('notAPicture')}</p>}
      {isChoosing && <WorkChoice kinds={['ASSET']} chosen={({ id }) => set(id)} close={() => setChoosing(false)} />}
    </div>
  );
}

/** A whole picture of an asset; until it is known where that is, and for what is no picture, the small one. */
export function FullPicture({ assetId, meanwhile }: { assetId: string; meanwhile: string }) {
  const { data } = useQuery(AssetFile, { id: assetId });
  const asset = having(data?.node, 'url');
  const source = asset?.mediaType.startsWith('image/') && asset.sha256 ? asset.url : meanwhile;
  return <img className="full-picture" src={source} alt={asset?.title ?? ''} />;
}

/** A small picture of an asset, by its signed address. */
export function AssetPicture({ assetId }: { assetId: string }) {
  const { data } = useLiveQuery(AssetFile, { id: assetId }, ({ subject }) => subject?.id === assetId);
  const asset = data?.node;
  if (!asset || !('url' in asset) || !asset.sha256) return null;
  const source = asset.previewUrl ?? (asset.mediaType.startsWith('image/') ? asset.url : null);
  return source && <img src={source} alt={asset.title} loading="lazy" />;
}
