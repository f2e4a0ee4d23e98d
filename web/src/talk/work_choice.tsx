/** Chooses a work of the workspace. */
import { Dialog } from '../frame/dialog';
import { Notice } from '../frame/notice';
import { WorkList, type WorkKind } from '../operations/generated';
import { useQuery, useRoom, useStudio } from '../studio';

interface Properties {
  kinds?: WorkKind[];
  chosen: (work: { id: string; title: string }) => void;
  close: () => void;
}

export function WorkChoice({ kinds, chosen, close }: Properties) {
  const { say } = useStudio();
  const { workspaceId } = useRoom();
  const { data, error, refresh } = useQuery(WorkList, { id: workspaceId, kinds: kinds ?? null, first: 100 });
  const works = data?.workspace?.works.nodes;
  return (
    <Dialog title={say('chooseWork')} close={close}>
      {!works && <Notice error={error} retry={refresh} />}
      {works?.length === 0 && <p className="quiet">{say('noWorks')}</p>}
      <ul className="choices">
        {works?.map((work) => (
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
    </Dialog>
  );
}
