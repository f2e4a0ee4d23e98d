/** Usage: tokens by layer of the requests, how much came from caches, spend by day, and what each task has used. */
import { useEffect, useState } from 'react';

import { asApiError, type ApiError } from '../api/errors';
import { Notice } from '../frame/notice';
import { linkTo } from '../frame/place';
import { useLedger } from '../money/ledger_table';
import { money, number, percent, roughly } from '../strings/moments';
import { useRoom, useStudio } from '../studio';
import { BarChart } from './bars';
import { gather, type Gathered, type UsedTask } from './gather';
import { LAYERS, spending, tally, type DayUsage } from './tally';

export function UsagePage() {
  const { say } = useStudio();
  const { gathered, error, again } = useGathered();
  if (!gathered) return <Notice error={error} retry={again} />;
  const { tasks, steps, done, of } = gathered;
  const days = tally(steps);
  return (
    <>
      {done < of && (
        <p className="gathering" role="status">
          <progress value={done} max={of} aria-label={say('progress')} /> {say('readingTasks', { done, of })}
        </p>
      )}
      {error && <Notice error={error} retry={again} />}
      {tasks.length === 0 && <p className="empty">{say('noUsage')}</p>}
      {tasks.length > 0 && <Totals tasks={tasks} />}
      {days.length > 0 && <TokenCharts days={days} />}
      <SpendChart />
      {tasks.length > 0 && <TaskTable tasks={tasks} />}
      <p className="row">
        <button type="button" onClick={again} disabled={done < of}>
          {say('readAgain')}
        </button>
      </p>
    </>
  );
}

function Totals({ tasks }: { tasks: UsedTask[] }) {
  const { say, language } = useStudio();
  const sum = (pick: (usage: UsedTask['usage']) => number): number => tasks.reduce((all, { usage }) => all + pick(usage), 0);
  const input = sum(({ inputTokens }) => inputTokens);
  const cached = sum(({ cachedTokens }) => cachedTokens);
  const currency = tasks[0]?.usage.spent.currency ?? 'USD';
  const facts = [
    [say('stepsDone'), number(sum(({ steps }) => steps), language)],
    [say('tokensIn'), roughly(input, language)],
    [say('fromCaches'), input > 0 ? percent(cached / input, language) : '–'],
    [say('tokensOut'), roughly(sum(({ outputTokens }) => outputTokens), language)],
    [say('spent'), money({ micros: sum(({ spent }) => Number(spent.micros)), currency }, language)],
  ];
  return (
    <dl className="totals">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function TokenCharts({ days }: { days: DayUsage[] }) {
  const { say, language } = useStudio();
  const write = (value: number): string => roughly(value, language);
  // The planner that is built in counts no tokens; a chart of nothing would say that nothing was cached.
  const isReported = days.some(({ inputTokens }) => inputTokens > 0);
  const layers = LAYERS.map((layer, index) => ({ name: say(`layer_${layer}`), tone: `tone-${index}` }));
  return (
    <div className="charts">
      <BarChart
        title={say('tokensByLayer')}
        lead={say('tokensByLayerLead')}
        parts={layers}
        bars={days.map(({ day, layers: values }) => ({ day, values: LAYERS.map((layer) => values[layer]) }))}
        write={write}
      />
      {isReported ? (
        <BarChart
          title={say('cacheHits')}
          lead={say('cacheHitsLead')}
          parts={[
            { name: say('cached'), tone: 'tone-1' },
            { name: say('notCached'), tone: 'tone-rest' },
          ]}
          bars={days.map(({ day, inputTokens, cachedTokens }) => ({ day, values: [cachedTokens, inputTokens - cachedTokens] }))}
          write={write}
        />
      ) : (
        <section className="chart" aria-label={say('cacheHits')}>
          <h2>{say('cacheHits')}</h2>
          <p className="empty">{say('nothingReported')}</p>
        </section>
      )}
    </div>
  );
}

function SpendChart() {
  const { say, language } = useStudio();
  const { nodes, error, read } = useLedger();
  if (!nodes) return <Notice error={error} retry={read} />;
  const days = spending(nodes);
  const currency = nodes[0]?.amount.currency ?? 'USD';
  if (days.length === 0) return null;
  return (
    <div className="charts">
      <BarChart
        title={say('spendByDay')}
        lead={say('spendByDayLead')}
        parts={[{ name: say('spent'), tone: 'tone-0' }]}
        bars={days.map(({ day, micros }) => ({ day, values: [micros / 1_000_000] }))}
        write={(value) => money({ micros: value * 1_000_000, currency }, language)}
      />
    </div>
  );
}

function TaskTable({ tasks }: { tasks: UsedTask[] }) {
  const { say, language } = useStudio();
  const { workspaceId } = useRoom();
  return (
    <section className="group">
      <h2>{say('byTask')}</h2>
      <div className="wide" tabIndex={0} role="region" aria-label={say('byTask')}>
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
    </section>
  );
}

function useGathered(): { gathered: Gathered | null; error: ApiError | null; again: () => void } {
  const { api } = useStudio();
  const { workspaceId } = useRoom();
  const [round, setRound] = useState(0);
  const [gathered, setGathered] = useState<Gathered | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  useEffect(() => {
    let isWanted = true;
    setError(null);
    gather(api, workspaceId, (found) => isWanted && setGathered(found), () => isWanted).catch(
      (reason: unknown) => isWanted && setError(asApiError(reason)),
    );
    return () => {
      isWanted = false;
    };
  }, [api, workspaceId, round]);
  return { gathered, error, again: () => setRound(round + 1) };
}
