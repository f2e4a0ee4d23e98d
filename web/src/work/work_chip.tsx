/** A work in a line: its kind, its title, a small picture where it has one; leads to it. */
import { linkTo } from '../frame/place';
import type { WorkLineFragment } from '../operations/generated';
import { useRoom, useStudio } from '../studio';

interface Properties {
  work: WorkLineFragment;
  /** The task beside which it opens. */
  besideTaskId?: string;
}

export function WorkChip({ work, besideTaskId }: Properties) {
  const { say } = useStudio();
  const { workspaceId } = useRoom();
  const preview = 'previewUrl' in work ? work.previewUrl : null;
  return (
    <a className="chip" href={linkTo(workspaceId, { workId: work.id, taskId: besideTaskId ?? null })}>
      {preview && <img src={preview} alt="" />}
      <span className="clip">{work.title}</span>
      <span className="quiet">{say(work.kind)}</span>
    </a>
  );
}
