/** Works that a card shows: pictures large enough to judge, larger still when opened; the rest as chips. */
import { useState } from 'react';

import { Dialog } from '../frame/dialog';
import { linkTo } from '../frame/place';
import type { WorkLineFragment } from '../operations/generated';
import { useRoom, useStudio } from '../studio';
import { FullPicture } from '../work/picture';
import { WorkChip } from '../work/work_chip';

/** The small picture of a work, where it has one. */
export function previewOf(work: WorkLineFragment | null): string | null {
  return work && 'previewUrl' in work ? work.previewUrl : null;
}

export function CardPictures({ works, taskId }: { works: WorkLineFragment[]; taskId: string | null }) {
  if (works.length === 0) return null;
  const pictures = works.filter((work) => previewOf(work));
  const others = works.filter((work) => !previewOf(work));
  return (
    <div className="card-works">
      {pictures.length > 0 && (
        <ul className="pictures">
          {pictures.map((work) => (
            <li key={work.id}>
              <LargerPicture work={work} />
            </li>
          ))}
        </ul>
      )}
      {others.length > 0 && (
        <p className="attached">
          {others.map((work) => (
            <WorkChip key={work.id} work={work} {...(taskId && { besideTaskId: taskId })} />
          ))}
        </p>
      )}
    </div>
  );
}

/** A picture that opens over the page. */
export function LargerPicture({ work }: { work: WorkLineFragment }) {
  const { say } = useStudio();
  const { workspaceId } = useRoom();
  const [isOpen, setOpen] = useState(false);
  const source = previewOf(work);
  if (!source) return null;
  return (
    <figure className="picture-figure">
      <button type="button" className="picture-button" aria-label={say('lookCloser', { title: work.title })} onClick={() => setOpen(true)}>
        <img src={source} alt={work.title} />
      </button>
      <figcaption className="quiet clip">{work.title}</figcaption>
      {isOpen && (
        <Dialog title={work.title} close={() => setOpen(false)} isWide>
          <FullPicture assetId={work.id} meanwhile={source} />
          <a href={linkTo(workspaceId, { workId: work.id })}>{say('openWork')}</a>
        </Dialog>
      )}
    </figure>
  );
}
