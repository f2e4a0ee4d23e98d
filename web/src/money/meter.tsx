/** A budget as a bar: what is spent, what is set aside, what is left; the words beside it say the same. */
import type { BudgetPartsFragment } from '../operations/generated';
import { money } from '../strings/moments';
import { useStudio } from '../studio';
import { sharesOf } from './amount';

type Parts = Pick<BudgetPartsFragment, 'limit' | 'spent' | 'reserved'>;

export function BudgetMeter({ budget }: { budget: Parts }) {
  const { say, language } = useStudio();
  const { spent, reserved, isFull, left } = sharesOf(budget);
  const { currency } = budget.spent;
  return (
    <div className={isFull ? 'meter full' : 'meter'}>
      <div className="meter-bar" aria-hidden="true">
        <span className="spent" style={{ width: `${spent * 100}%` }} />
        <span className="reserved" style={{ width: `${reserved * 100}%` }} />
      </div>
      <dl className="meter-facts">
        <div>
          <dt className="spent">{say('spent')}</dt>
          <dd>{money(budget.spent, language)}</dd>
        </div>
        <div>
          <dt className="reserved">{say('reserved')}</dt>
          <dd>{money(budget.reserved, language)}</dd>
        </div>
        <div>
          <dt className="left">{say('leftOver')}</dt>
          <dd>{left === null ? say('noLimit') : money({ micros: left, currency }, language)}</dd>
        </div>
        {budget.limit && (
          <div>
            <dt>{say('limit')}</dt>
            <dd>{money(budget.limit, language)}</dd>
          </div>
        )}
      </dl>
    </div>
  );
}
