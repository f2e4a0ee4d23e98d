/** Turns with their steps, newest first: why each was done, what it set going, and what came of it. */
import { More } from '../frame/more';
import { CallPill, TurnPill } from '../frame/pill';
import { duration, moment, number } from '../strings/moments';
import { useStudio, type Listed } from '../studio';
import { detailOf, ToolName } from './now';
import type { Turn } from './task_page';

type Step = Turn['steps'][number];
type Call = Step['calls'][number];

export function Steps({ turns, more }: { turns: Listed<Turn> | null; more: () => void }) {
  const { say } = useStudio();
  if (!turns) return <p className="quiet loading">{say('loading')}</p>;
  if (turns.nodes.length === 0) return <p className="quiet">{say('noSteps')}</p>;
  return (
    <>
      <ol className="turns" reversed>
        {[...turns.nodes].reverse().map((turn) => (
          <TurnView key={turn.id} turn={turn} />
        ))}
      </ol>
      <More list={turns} more={more} word="earlier" />
    </>
  );
}

function TurnView({ turn }: { turn: Turn }) {
  const { say, language } = useStudio();
  return (
    <li className="turn">
      <h3>
        {say('turn', { turn: turn.number })} <TurnPill state={turn.state} />
        {turn.epoch > 1 && <span className="quiet"> {say('takenOver', { epoch: turn.epoch })}</span>}
        {turn.startedAt && (
          <time className="quiet" dateTime={turn.startedAt}>
            {' '}
            {moment(turn.startedAt, language)}
            {turn.endedAt && `, ${duration(turn.startedAt, turn.endedAt, language)}`}
          </time>
        )}
      </h3>
      <ol className="steps" reversed>
        {[...turn.steps].reverse().map((step) => (
          <StepView key={step.number} step={step} />
        ))}
      </ol>
    </li>
  );
}

function StepView({ step }: { step: Step }) {
  const { say, language } = useStudio();
  const { context, consumed } = step;
  return (
    <li className="step">
      <p>
        <span className="step-number">{step.number}</span> {step.rationale}
      </p>
      {consumed.length > 0 && (
        <p className="quiet">
          {say('tookIn')} {consumed.map(({ id, text }) => <q key={id}>{text}</q>)}
        </p>
      )}
      <ul className="calls">
        {step.calls.map((call) => (
          <CallView key={call.id} call={call} />
        ))}
      </ul>
      {context.inputTokens > 0 && (
        <p className="quiet">
          {context.model}: {say('tokensOf', {
            input: number(context.inputTokens, language),
            cached: number(context.cachedTokens, language),
            output: number(context.outputTokens, language),
          })}
        </p>
      )}
    </li>
  );
}

function CallView({ call }: { call: Call }) {
  const { say } = useStudio();
  return (
    <li>
      <details>
        <summary>
          <CallPill state={call.state} /> <ToolName tool={call.tool} /> <span className="quiet clip">{detailOf(call.arguments)}</span>
          {call.attempts > 1 && <span className="quiet"> {say('attempts', { count: call.attempts })}</span>}
        </summary>
        <h4>{say('arguments')}</h4>
        <Data value={call.arguments} />
        {call.result !== null && (
          <>
            <h4>{say('result')}</h4>
            <Data value={call.result} />
          </>
        )}
      </details>
      {call.error && <p role="alert">{call.error}</p>}
    </li>
  );
}

/** Stored data, readable: prose as prose, the rest as JSON. */
export function Data({ value }: { value: unknown }) {
  if (typeof value === 'string') return <pre className="data">{value}</pre>;
  return <pre className="data">{JSON.stringify(value, null, 2)}</pre>;
}
