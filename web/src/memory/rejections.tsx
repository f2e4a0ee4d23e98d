/** Candidates that were not taken into memory, each with its reason. */
import { More } from '../frame/more';
import { Notice } from '../frame/notice';
import { Rejections } from '../operations/generated';
import { moment } from '../strings/moments';
import { useLivePages, useRoom, useStudio } from '../studio';

export function NotTaken() {
  const { say, language } = useStudio();
  const { workspaceId } = useRoom();
  const { list, error, refresh, more } = useLivePages(
    Rejections,
    { id: workspaceId, first: 50 },
    { connection: ({ workspace }) => workspace?.memoryRejections, concerns: ({ kind }) => kind.startsWith('MEMORY_') },
  );
  if (!list) return <Notice error={error} retry={refresh} />;
  return (
    <div className="stack roomy">
      <p className="quiet">{say('notTakenLead')}</p>
      {list.nodes.length === 0 && <p className="empty">{say('noRejections')}</p>}
      <ul className="rows">
        {list.nodes.map(({ content, reason, detail, at, messages }) => (
          <li key={`${at} ${content} ${reason}`} className="rejection">
            <p className="title">{content || <span className="gone">{say('notKept')}</span>}</p>
            <p>
              <span className="tag">{say(`rejection_${reason}`)}</span> <time className="quiet" dateTime={at}>{moment(at, language)}</time>
            </p>
            {messages.map(({ id, text }) => (
              <blockquote key={id} className="quiet">
                {text}
              </blockquote>
            ))}
            <p className="quiet">{detail}</p>
          </li>
        ))}
      </ul>
      <More list={list} more={more} />
    </div>
  );
}
