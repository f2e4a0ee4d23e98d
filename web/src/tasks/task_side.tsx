/** What a task rests on and has made: plan, works, orders, what is unread, brief, cost against its budget, and what it has used. */
import { useState } from 'react';

import { Markdown } from '../frame/markdown';
import { Refusal } from '../frame/notice';
import { UpdateTask, type Autonomy } from '../operations/generated';
import { moment, number } from '../strings/moments';
import { useDoing, useRoom, useStudio } from '../studio';
import { WorkChip } from '../work/work_chip';
import { WorkPeek } from '../work/work_peek';
import { Checklist } from './checklist';
import { TaskCost } from './task_cost';
import { TaskJobs } from './task_jobs';
import type { FullTask } from './task_page';

interface Properties {
  task: FullTask;
  refresh: () => void;
  /** The work that is open beside the task, which needs no second view. */
  openWorkId: string | null;
}

export function TaskSide({ task, refresh, openWorkId }: Properties) {
  const { say } = useStudio();
  return (
    <aside className="task-side" aria-label={say('aboutTask')}>
      {task.works.length > 0 && (
        <section>
          <h2>{say('works')}</h2>
          {task.works.map(({ work }) =>
            work.id === openWorkId ? (
              <WorkChip key={work.id} work={work} besideTaskId={task.id} />
            ) : (
              <WorkPeek key={work.id} work={work} besideTaskId={task.id} />
            ),
          )}
        </section>
      )}
      <Checklist items={task.checklist} />
      <TaskJobs task={task} refresh={refresh} />
      <Inbox task={task} />
      <Changes task={task} />
      <Brief task={task} refresh={refresh} />
      <TaskCost task={task} refresh={refresh} />
      <Used task={task} />
    </aside>
  );
}

function Inbox({ task }: { task: FullTask }) {
  const { say } = useStudio();
  if (task.inbox.length === 0) return null;
  return (
    <section>
      <h2>{say('inbox')}</h2>
      <ul className="inbox">
        {task.inbox.map(({ id, text, author }) => (
          <li key={id}>
            <span className="quiet">{author.label}:</span> {text}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Changes({ task }: { task: FullTask }) {
  const { say, language } = useStudio();
  if (task.changeNotices.length === 0) return null;
  return (
    <section>
      <h2>{say('changesUnread')}</h2>
      <ul className="notices">
        {task.changeNotices.map((notice) => (
          <li key={notice.work.id}>
            <WorkChip work={notice.work} besideTaskId={task.id} />
            <p>
              {notice.summary}{' '}
              <span className="quiet">
                {say('versions', { from: notice.fromVersion, to: notice.toVersion })}, {notice.changedBy.map(({ label }) => label).join(', ')},{' '}
                {moment(notice.createdAt, language)}
              </span>
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

const LEVELS: Autonomy[] = ['ASK_EACH_STEP', 'ASK_AT_CHECKPOINTS', 'RUN_UNTIL_DONE'];

function Brief({ task, refresh }: { task: FullTask; refresh: () => void }) {
  const { api, say } = useStudio();
  const { isReadOnly } = useRoom();
  const [text, setText] = useState<string | null>(null);
  const doing = useDoing(async (change: { brief?: string; autonomy?: Autonomy }) => {
    await api.run(UpdateTask, { input: { taskId: task.id, ...change } });
    setText(null);
    refresh();
  });
  return (
    <section>
      <h2>{say('brief')}</h2>
      <p className="goal">{task.goal}</p>
      {text === null && task.brief && <Markdown text={task.brief} />}
      {text !== null && (
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            void doing.run({ brief: text });
          }}
        >
          <textarea aria-label={say('brief')} rows={4} value={text} onChange={(event) => setText(event.target.value)} autoFocus />
          <div className="row">
            <button type="button" className="plain" onClick={() => setText(null)}>
              {say('cancel')}
            </button>
            <button type="submit" className="primary" disabled={doing.isBusy}>
              {say('save')}
            </button>
          </div>
        </form>
      )}
      {text === null && !isReadOnly && (
        <button type="button" className="plain" onClick={() => setText(task.brief)}>
          {task.brief ? say('editBrief') : say('addBrief')}
        </button>
      )}
      <label className="stack">
        {say('autonomy')}
        <select
          value={task.autonomy}
          disabled={isReadOnly || doing.isBusy}
          onChange={(event) => void doing.run({ autonomy: event.target.value as Autonomy })}
        >
          {LEVELS.map((level) => (
            <option key={level} value={level}>
              {say(`autonomy_${level}`)}
            </option>
          ))}
        </select>
      </label>
      <Refusal error={doing.error} />
    </section>
  );
}

function Used({ task: { usage } }: { task: FullTask }) {
  const { say, language } = useStudio();
  const share = usage.inputTokens > 0 ? Math.round((usage.cachedTokens / usage.inputTokens) * 100) : 0;
  return (
    <section>
      <h2>{say('usage')}</h2>
      <dl className="facts">
        <dt>{say('stepsDone')}</dt>
        <dd>{number(usage.steps, language)}</dd>
        <dt>{say('tokensIn')}</dt>
        <dd>
          {number(usage.inputTokens, language)} {share > 0 && <span className="quiet">{say('fromCache', { share })}</span>}
        </dd>
        <dt>{say('tokensOut')}</dt>
        <dd>{number(usage.outputTokens, language)}</dd>
      </dl>
    </section>
  );
}
