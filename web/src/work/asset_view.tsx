/** An asset: its preview, what it is, and its bytes. */
import { useEffect } from 'react';

import { Notice } from '../notice';
import { useQuery, useStudio } from '../studio';

const ASSET = `query Asset($id: ID!) {
  node(id: $id) { ... on Asset { title mediaType byteSize sha256 url previewUrl } }
}`;

interface Asset {
  title: string;
  mediaType: string;
  byteSize: number;
  sha256: string;
  url: string;
  previewUrl: string | null;
}

export function AssetView({ workId, round }: { workId: string; round: number }) {
  const { api, say, language } = useStudio();
  const { data, error, reload } = useQuery<{ node: Partial<Asset> | null }>(api, ASSET, { id: workId });
  useEffect(() => {
    if (round > 0) reload();
  }, [round, reload]);
  if (!data) return <Notice error={error} retry={reload} />;
  const { title, mediaType = '', byteSize = 0, sha256, url, previewUrl } = data.node ?? {};
  // Before its bytes are there an asset has no hash.
  if (!sha256 || !url) return <p className="quiet">{say('notUploaded')}</p>;
  const size = new Intl.NumberFormat(language, { style: 'unit', unit: 'kilobyte', maximumFractionDigits: 1 });
  return (
    <figure className="asset">
      {previewUrl && <img src={previewUrl} alt={title} />}
      {mediaType.startsWith('video/') && <video src={url} controls />}
      {mediaType.startsWith('audio/') && <audio src={url} controls />}
      <figcaption>
        {mediaType}, {size.format(byteSize / 1000)}{' '}
        <a href={url} download={title}>
          {say('download')}
        </a>
      </figcaption>
    </figure>
  );
}
