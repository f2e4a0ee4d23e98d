/** Chooses a work of the workspace. */
import { Dialog } from '../frame/dialog';
import { More } from '../frame/more';
import { Notice } from '../frame/notice';
import { WorkList, type WorkKind } from '../operations/generated';
import { useLivePages, useRoom, useStudio } from '../studio';

interface Properties {
  kinds?: WorkKind[];
  chosen: (work: { id: string; title: string }) => void;
  close: () => void;
}

export function WorkChoice({ kinds, chosen, close }: Properties) {
  const { say } = useStudio();
  const { workspaceId } = useRoom();
  const { list, error, refresh, more } = useLivePages(
    WorkList,
    { id: workspaceId, kinds: kinds ?? null, first: 50 },
    { connection: ({ workspace }) => workspace?.works, concerns: ({ kind }) => kind === 'WORK_CREATED' },
  );
  return (
    <Dialog title={say('chooseWork')} close={close}>
      {!list && <Notice error={error} retry={refresh} />}
      {list?.nodes.length === 0 && <p className="quiet">{say('noWorks')}</p>}
      <ul className="choices">
        {list?.nodes.map((work) => (
          <li key={work.id}>
            <button
              type="button"
              className="plain"
              onClick={() => {
                chosen(work);
                close();
              }}
            >
              <span className="clip">{work.title}</span> <span className="quiet">{say(work.kind)}</span>
            </button>
          </li>
        ))}
      </ul>
      <More list={list} more={more} />
    </Dialog>
  );
}
