/** Every booking, the newest first: what was set aside, spent and given back, and for which order. */
import { useState } from 'react';

import { isOfBudget } from '../api/events';
import { Notice } from '../frame/notice';
import { linkTo } from '../frame/place';
import { Ledger } from '../operations/generated';
import { money, moment } from '../strings/moments';
import { useGrowing, useRoom, useStudio } from '../studio';

const PAGE = 100;
/** So many are shown at once. */
const SHOWN = 50;

/** The whole ledger, oldest first. */
export function useLedger() {
  const { workspaceId } = useRoom();
  return useGrowing(
    Ledger,
    { id: workspaceId, first: PAGE },
    { connection: ({ workspace }) => workspace?.ledger, concerns: isOfBudget },
  );
}

export function LedgerTable() {
  const { say, language } = useStudio();
  const { workspaceId } = useRoom();
  const { nodes, isWhole, error, read } = useLedger();
  const [most, setMost] = useState(SHOWN);
  if (!nodes) return <Notice error={error} retry={read} />;
  if (nodes.length === 0) return <p className="empty">{say('emptyLedger')}</p>;
  return (
    <>
      <div className="wide" tabIndex={0} role="region" aria-label={say('ledger')}>
        <table className="ledger">
          <thead>
            <tr>
              <th>{say('when')}</th>
              <th>{say('booking')}</th>
              <th className="number">{say('amount')}</th>
              <th>{say('forWhat')}</th>
            </tr>
          </thead>
          <tbody>
            {nodes.slice(-most).reverse().map(({ id, kind, amount, at, job }) => (
              <tr key={id}>
                <td>
                  <time dateTime={at}>{moment(at, language)}</time>
                </td>
                <td>
                  <span className={`booking ${kind}`}>{say(`ledger_${kind}`)}</span>
                </td>
                <td className="number">{money(amount, language)}</td>
                <td>
                  {job && (
                    <span className="for">
                      {say(`media_${job.kind}`)} · {job.task ? <a href={linkTo(workspaceId, { taskId: job.task.id })}>{job.task.title}</a> : job.prompt}
                    </span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {!isWhole && !error && <Notice error={null} retry={read} />}
      {error && <Notice error={error} retry={read} />}
      {nodes.length > most && (
        <button type="button" className="more" onClick={() => setMost(most + SHOWN)}>
          {say('more')}
        </button>
      )}
    </>
  );
}
