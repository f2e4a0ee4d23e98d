/** What a task has cost against what it may: a bar, the amounts, and another limit. */
import { useState } from 'react';

import { Refusal } from '../frame/notice';
import { amountOf, typedAs } from '../money/amount';
import { AmountField } from '../money/amount_field';
import { BudgetMeter } from '../money/meter';
import { UpdateTask } from '../operations/generated';
import { useDoing, useRoom, useStudio } from '../studio';
import type { FullTask } from './task_page';

export function TaskCost({ task, refresh }: { task: FullTask; refresh: () => void }) {
  const { say } = useStudio();
  const { isReadOnly } = useRoom();
  const [isOpen, setOpen] = useState(false);
  return (
    <section aria-label={say('cost')}>
      <h2>{say('cost')}</h2>
      <BudgetMeter budget={task.budget} />
      {isOpen && <TaskLimit task={task} refresh={refresh} close={() => setOpen(false)} />}
      {!isOpen && !isReadOnly && (
        <button type="button" className="plain" onClick={() => setOpen(true)}>
          {say(task.budget.limit ? 'changeLimit' : 'setLimit')}
        </button>
      )}
    </section>
  );
}

function TaskLimit({ task, refresh, close }: { task: FullTask; refresh: () => void; close: () => void }) {
  const { api, say } = useStudio();
  const { limit, spent } = task.budget;
  const [text, setText] = useState(limit ? typedAs(limit.micros) : '');
  const amount = amountOf(text, spent.currency);
  const doing = useDoing(async () => {
    await api.run(UpdateTask, { input: { taskId: task.id, budget: amount ?? null } });
    refresh();
    close();
  });
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void doing.run();
      }}
    >
      <AmountField label={say('taskLimit')} text={text} currency={spent.currency} hint={say('emptyNoLimit')} change={setText} />
      <div className="row">
        <button type="submit" className="primary" disabled={doing.isBusy || amount === undefined}>
          {say('save')}
        </button>
        <button type="button" className="plain" onClick={close}>
          {say('cancel')}
        </button>
      </div>
      <Refusal error={doing.error} />
    </form>
  );
}
