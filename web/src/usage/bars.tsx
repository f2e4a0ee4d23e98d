/** A chart of bars by day, each in parts; a table behind it says the same to whoever does not see it. */
import { useState, type ReactNode } from 'react';

import { day } from '../strings/moments';
import { useStudio } from '../studio';

export interface Part {
  name: string;
  /** Its class, which gives the colour. */
  tone: string;
}

export interface Bar {
  /** YYYY-MM-DD */
  day: string;
  values: number[];
}

interface Properties {
  title: string;
  lead?: ReactNode;
  parts: Part[];
  bars: Bar[];
  /** A value in words. */
  write: (value: number) => string;
  /** The top of the scale, where it is not the highest bar. */
  top?: number;
}

export function BarChart({ title, lead, parts, bars, write, top }: Properties) {
  const { say, language } = useStudio();
  const [isTable, setTable] = useState(false);
  const sums = bars.map(({ values }) => values.reduce((sum, value) => sum + Math.max(0, value), 0));
  const highest = top ?? niceTop(Math.max(0, ...sums));
  return (
    <section className="chart" aria-label={title}>
      <header>
        <div>
          <h2>{title}</h2>
          {lead && <p className="quiet">{lead}</p>}
        </div>
        <button type="button" className="plain" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          {say('asTable')}
        </button>
      </header>
      {parts.length > 1 && (
        <ul className="legend">
          {parts.map(({ name, tone }) => (
            <li key={tone}>
              <span className={`swatch ${tone}`} aria-hidden="true" /> {name}
            </li>
          ))}
        </ul>
      )}
      {isTable ? (
        <ValueTable title={title} parts={parts} bars={bars} write={write} />
      ) : (
        <div className="plot" role="img" aria-label={`${title}: ${say('seeTable')}`}>
          <div className="scale" aria-hidden="true">
            <span>{write(highest)}</span>
            <span>{write(highest / 2)}</span>
            <span>{write(0)}</span>
          </div>
          <ol className="bars">
            {bars.map((bar, index) => (
              <li key={bar.day} title={tipOf(bar, parts, write, day(`${bar.day}T12:00:00`, language))}>
                <span className="stack-of-parts">
                  {bar.values.map((value, at) => (
                    <span
                      key={parts[at]?.tone}
                      className={`part ${parts[at]?.tone}`}
                      style={{ height: `${highest > 0 ? (Math.max(0, value) / highest) * 100 : 0}%` }}
                    />
                  ))}
                </span>
                <span className="day">{isLabelled(index, bars.length) ? day(`${bar.day}T12:00:00`, language) : ''}</span>
              </li>
            ))}
          </ol>
        </div>
      )}
    </section>
  );
}

function ValueTable({ title, parts, bars, write }: Omit<Properties, 'lead' | 'top'>) {
  const { say, language } = useStudio();
  return (
    <div className="wide" tabIndex={0} role="region" aria-label={title}>
      <table>
        <thead>
          <tr>
            <th>{say('day')}</th>
            {parts.map(({ name, tone }) => (
              <th key={tone} className="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {[...bars].reverse().map((bar) => (
            <tr key={bar.day}>
              <td>{day(`${bar.day}T12:00:00`, language)}</td>
              {bar.values.map((value, at) => (
                <td key={parts[at]?.tone} className="number">
                  {write(value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function tipOf({ values }: Bar, parts: Part[], write: (value: number) => string, name: string): string {
  return [name, ...values.map((value, at) => `${parts[at]?.name ?? ''}: ${write(value)}`)].join('\n');
}

/** So many days as have room for their names. */
const NAMED = 5;

function isLabelled(index: number, count: number): boolean {
  const every = Math.max(1, Math.ceil(count / NAMED));
  return (count - 1 - index) % every === 0;
}

/** The next round number above: 1, 2 or 5 with zeros. */
export function niceTop(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const found = [1, 2, 5, 10].find((each) => each * power >= value) ?? 10;
  return found * power;
}
