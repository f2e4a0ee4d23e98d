/** A look into a work as it is now: the first shots, lines or items, drawn again with every change. */
import { linkTo } from '../frame/place';
import { Peek, type WorkLineFragment } from '../operations/generated';
import { useLiveQuery, useRoom, useStudio } from '../studio';

/** As much as fits beside a task. */
const SHOWN = 30;
const LINES = 400;

export function WorkPeek({ work, besideTaskId }: { work: WorkLineFragment; besideTaskId: string | null }) {
  const { say } = useStudio();
  const { workspaceId } = useRoom();
  const { data } = useLiveQuery(Peek, { id: work.id }, (event) => event.subject?.id === work.id);
  const node = data?.node;
  const preview = 'previewUrl' in work ? work.previewUrl : null;
  return (
    <div className="peek">
      <a href={linkTo(workspaceId, { workId: work.id, taskId: besideTaskId })}>
        <span className="clip">{work.title}</span>
        <span className="quiet">{say(work.kind)}</span>
      </a>
      {preview && <img src={preview} alt={work.title} />}
      {node && 'text' in node && <p className="quiet lines">{node.text.slice(0, LINES) || say('emptyWork')}</p>}
      {node && 'nodes' in node && (
        <ol className="peek-nodes" aria-label={work.title}>
          {node.nodes.length === 0 && <li className="quiet">{say('emptyWork')}</li>}
          {node.nodes.slice(0, SHOWN).map(({ id, fields }) => (
            <li key={id}>
              <b>{wordsOf(fields, 'title') || id}</b>
              <span className="quiet"> {wordsOf(fields, 'description') || wordsOf(fields, 'notes')}</span>
            </li>
          ))}
          {node.nodes.length > SHOWN && <li className="quiet">{say('andMore', { count: node.nodes.length - SHOWN })}</li>}
        </ol>
      )}
    </div>
  );
}

/** A field as text, whatever it holds. */
export function wordsOf(fields: unknown, name: string): string {
  const value = (fields as Record<string, unknown> | null)?.[name];
  return typeof value === 'string' ? value : '';
}
