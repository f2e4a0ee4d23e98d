/** What tasks have used: steps, tokens, how many of them came from caches, money. */
import { Notice } from '../frame/notice';
import { linkTo } from '../frame/place';
import { WorkspaceUsage } from '../operations/generated';
import { money, number } from '../strings/moments';
import { useQuery, useRoom, useStudio } from '../studio';

export function UsageTable() {
  const { say, language } = useStudio();
  const { workspaceId } = useRoom();
  const { data, error, refresh } = useQuery(WorkspaceUsage, { id: workspaceId });
  const tasks = data?.workspace?.tasks.nodes;
  if (!tasks) return <Notice error={error} retry={refresh} />;
  if (tasks.length === 0) return <p className="quiet">{say('noTasks')}</p>;
  return (
    <div className="wide" tabIndex={0} role="region" aria-label={say('usage')}>
      <table>
        <thead>
          <tr>
            <th>{say('task')}</th>
            <th className="number">{say('stepsDone')}</th>
            <th className="number">{say('tokensIn')}</th>
            <th className="number">{say('cached')}</th>
            <th className="number">{say('tokensOut')}</th>
            <th className="number">{say('spent')}</th>
          </tr>
        </thead>
        <tbody>
          {tasks.map(({ id, title, usage }) => (
            <tr key={id}>
              <td>
                <a href={linkTo(workspaceId, { taskId: id })}>{title}</a>
              </td>
              <td className="number">{number(usage.steps, language)}</td>
              <td className="number">{number(usage.inputTokens, language)}</td>
              <td className="number">{number(usage.cachedTokens, language)}</td>
              <td className="number">{number(usage.outputTokens, language)}</td>
              <td className="number">{money(usage.spent, language)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
