/** A price that a person is asked about, beside what is left of the budget. */
import { isOfBudget } from '../api/events';
import { RoomBudget, type CardPartsFragment } from '../operations/generated';
import { sharesOf } from '../money/amount';
import { money } from '../strings/moments';
import { useLiveQuery, useRoom, useStudio } from '../studio';

export function CardCost({ cost }: { cost: NonNullable<CardPartsFragment['cost']> }) {
  const { say, language } = useStudio();
  const { workspaceId } = useRoom();
  const { data } = useLiveQuery(RoomBudget, { id: workspaceId }, isOfBudget);
  const budget = data?.workspace?.budget;
  const left = budget && sharesOf(budget).left;
  const { currency } = cost;
  return (
    <dl className="card-cost">
      <div>
        <dt>{say('wouldCost')}</dt>
        <dd className="cost">{money(cost, language)}</dd>
      </div>
      {budget && (
        <div>
          <dt>{say('spentSoFar')}</dt>
          <dd>{money(budget.spent, language)}</dd>
        </div>
      )}
      {typeof left === 'number' && (
        <div>
          <dt>{say('leftAfter')}</dt>
          <dd className={left < Number(cost.micros) ? 'danger' : ''}>
            {left < Number(cost.micros) ? say('notEnough') : money({ micros: left - Number(cost.micros), currency }, language)}
          </dd>
        </div>
      )}
    </dl>
  );
}
