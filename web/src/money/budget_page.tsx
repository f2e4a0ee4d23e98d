/** Money: what may be spent in the workspace and was, what each operation may cost, and every booking. */
import { useState } from 'react';

import { isOfBudget } from '../api/events';
import { Notice, Refusal } from '../frame/notice';
import { RoomBudget, SetBudget, type BudgetPartsFragment } from '../operations/generated';
import { money } from '../strings/moments';
import { useDoing, useLiveQuery, useRoom, useStudio } from '../studio';
import { amountOf, typedAs } from './amount';
import { AmountField } from './amount_field';
import { LedgerTable } from './ledger_table';
import { BudgetMeter } from './meter';

export function BudgetPage() {
  const { say } = useStudio();
  const { workspaceId, role } = useRoom();
  const { data, error, refresh } = useLiveQuery(RoomBudget, { id: workspaceId }, isOfBudget);
  const budget = data?.workspace?.budget;
  if (!budget) return <Notice error={error} retry={refresh} />;
  return (
    <>
      <section className="group">
        <h2>{say('workspaceBudget')}</h2>
        <BudgetMeter budget={budget} />
      </section>
      <section className="group">
        <h2>{say('withoutAsking')}</h2>
        <p className="quiet">{say('withoutAskingLead')}</p>
        {role === 'OWNER' ? <Limits key={JSON.stringify(budget)} budget={budget} refresh={refresh} /> : <LimitFacts budget={budget} />}
      </section>
      <section className="group">
        <h2>{say('ledger')}</h2>
        <LedgerTable />
      </section>
    </>
  );
}

function LimitFacts({ budget }: { budget: BudgetPartsFragment }) {
  const { say, language } = useStudio();
  return (
    <dl className="facts">
      <dt>{say('limitInAll')}</dt>
      <dd>{budget.limit ? money(budget.limit, language) : say('noLimit')}</dd>
      <dt>{say('limitEach')}</dt>
      <dd>{money(budget.perOperationLimit, language)}</dd>
      <dt>{say('limitDaily')}</dt>
      <dd>{money(budget.dailyLimit, language)}</dd>
    </dl>
  );
}

const FIELDS = ['limit', 'perOperationLimit', 'dailyLimit'] as const;
const LABELS = { limit: 'limitInAll', perOperationLimit: 'limitEach', dailyLimit: 'limitDaily' } as const;

function Limits({ budget, refresh }: { budget: BudgetPartsFragment; refresh: () => void }) {
  const { api, say } = useStudio();
  const { workspaceId } = useRoom();
  const { currency } = budget.spent;
  const before = {
    limit: budget.limit ? typedAs(budget.limit.micros) : '',
    perOperationLimit: typedAs(budget.perOperationLimit.micros),
    dailyLimit: typedAs(budget.dailyLimit.micros),
  };
  const [typed, setTyped] = useState(before);
  const changed = FIELDS.filter((field) => typed[field].trim() !== before[field]);
  const isWrong = FIELDS.some((field) => amountOf(typed[field], currency) === undefined);
  const doing = useDoing(async () => {
    // What was not touched is not sent, so that it stays as somebody else may have set it meanwhile.
    const limits = Object.fromEntries(changed.map((field) => [field, amountOf(typed[field], currency) ?? null]));
    await api.run(SetBudget, { input: { workspaceId, ...limits } });
    refresh();
  });
  return (
    <form
      className="limits"
      aria-label={say('withoutAsking')}
      onSubmit={(event) => {
        event.preventDefault();
        void doing.run();
      }}
    >
      {FIELDS.map((field) => (
        <AmountField
          key={field}
          label={say(LABELS[field])}
          text={typed[field]}
          currency={currency}
          hint={say(field === 'limit' ? 'emptyNoLimit' : 'emptyDefault')}
          change={(text) => setTyped({ ...typed, [field]: text })}
        />
      ))}
      <button type="submit" className="primary" disabled={doing.isBusy || isWrong || changed.length === 0}>
        {say('save')}
      </button>
      <Refusal error={doing.error} />
    </form>
  );
}
