/** The lines of a task: who was asked what, and what they answered. */
import { having } from '../api/operation';
import { taskOf } from '../api/events';
import { Markdown } from '../frame/markdown';
import { Notice } from '../frame/notice';
import { TaskLines } from '../operations/generated';
import { isWord } from '../strings';
import { moment } from '../strings/moments';
import { useLiveQuery, useStudio } from '../studio';

export function Lines({ taskId }: { taskId: string }) {
  const { say, language } = useStudio();
  const { data, error, refresh } = useLiveQuery(
    TaskLines,
    { id: taskId },
    (event) => event.kind === 'JOURNAL_APPENDED' && taskOf(event) === taskId,
  );
  const node = having(data?.node, 'lines');
  if (!node) return <Notice error={error} retry={refresh} />;
  if (node.lines.length === 0) return <p className="quiet">{say('noLines')}</p>;
  return (
    <>
      {node.lines.map(({ id, executor, purpose, exchanges }) => (
        <details key={id} className="line" open={node.lines.length === 1}>
          <summary>
            <b>{executorName(executor, say)}</b> {purpose} <span className="quiet">{exchanges.length}</span>
          </summary>
          <ol>
            {exchanges.map((exchange) => (
              <li key={exchange.at}>
                <p className="quiet">
                  {say('turnStep', { turn: exchange.turnNumber, step: exchange.stepNumber })}, {moment(exchange.at, language)}
                </p>
                <div className="asked">
                  <Markdown text={exchange.prompt} />
                </div>
                {exchange.answer && <Markdown text={exchange.answer} />}
              </li>
            ))}
          </ol>
        </details>
      ))}
    </>
  );
}

function executorName(executor: string, say: ReturnType<typeof useStudio>['say']): string {
  const word = `executor_${executor}`;
  return isWord(word) ? say(word) : executor;
}
