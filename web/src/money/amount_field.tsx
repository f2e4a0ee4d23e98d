/** A field for an amount in a currency; empty means that there is none. */
import { useId, type ReactNode } from 'react';

import { useStudio } from '../studio';
import { amountOf } from './amount';

interface Properties {
  label: ReactNode;
  text: string;
  currency: string;
  hint?: string;
  change: (text: string) => void;
}

export function AmountField({ label, text, currency, hint, change }: Properties) {
  const { say } = useStudio();
  const id = useId();
  const isWrong = amountOf(text, currency) === undefined;
  return (
    <label className="amount">
      {label}
      <span className="amount-box">
        <input
          inputMode="decimal"
          value={text}
          placeholder={say('noLimit')}
          aria-invalid={isWrong}
          aria-describedby={isWrong || hint ? id : undefined}
          onChange={(event) => change(event.target.value)}
        />
        <span aria-hidden="true">{currency}</span>
      </span>
      {(isWrong || hint) && (
        <small id={id} className={isWrong ? 'danger' : 'quiet'}>
          {isWrong ? say('noAmount') : hint}
        </small>
      )}
    </label>
  );
}
