/** One order at a media provider: what it is to be, how far it is, what came of it and what it cost; and giving it up. */
import { Refusal } from '../frame/notice';
import { JobPill } from '../frame/pill';
import { linkTo } from '../frame/place';
import { CancelJob, type JobPartsFragment, type JobState, type MediaKind } from '../operations/generated';
import { money, moment, percent } from '../strings/moments';
import { useDoing, useRoom, useStudio } from '../studio';

export const MEDIA_SIGNS: Record<MediaKind, string> = { IMAGE: '▣', VIDEO: '▷', AUDIO: '♪', MODEL_3D: '◈' };

/** What is not over. */
export const OPEN_STATES: JobState[] = ['AWAITING_APPROVAL', 'SUBMITTING', 'RUNNING', 'SUBMISSION_UNKNOWN'];
const STOPPABLE: JobState[] = ['AWAITING_APPROVAL', 'SUBMITTING', 'RUNNING'];

interface Properties {
  job: JobPartsFragment;
  /** The task that ordered it, where it is not said by what stands around. */
  task?: { id: string; title: string };
  refresh: () => void;
}

export function JobRow({ job, task, refresh }: Properties) {
  const { say, language } = useStudio();
  const { workspaceId } = useRoom();
  const { kind, prompt, state, progress, cost, outputs, error, provider, createdAt } = job;
  const isFree = Number(cost.micros) === 0;
  return (
    <article className="job" aria-label={`${say(`media_${kind}`)}: ${prompt.slice(0, 80)}`}>
      <JobPicture job={job} />
      <div className="job-body">
        <p className="job-head">
          <JobPill state={state} />
          <span className="quiet">
            {say(`media_${kind}`)} · {provider} · {isFree ? say('free') : money(cost, language)} ·{' '}
            <time dateTime={createdAt}>{moment(createdAt, language)}</time>
          </span>
        </p>
        <p className="job-prompt" title={prompt}>
          {prompt}
        </p>
        {(state === 'RUNNING' || state === 'SUBMITTING') && (
          <p className="job-progress">
            <progress value={progress > 0 ? progress : undefined} aria-label={say('progress')} />
            {progress > 0 && <span className="quiet">{percent(progress, language)}</span>}
          </p>
        )}
        {error && <p className="job-error">{error}</p>}
        {state === 'SUBMISSION_UNKNOWN' && <p className="quiet">{say('unknownOrder')}</p>}
        <p className="job-links">
          {task && <a href={linkTo(workspaceId, { taskId: task.id })}>{state === 'AWAITING_APPROVAL' ? say('decideThere', { task: task.title }) : task.title}</a>}
          {outputs.map((work) => (
            <a key={work.id} href={linkTo(workspaceId, { workId: work.id })}>
              {work.title}
            </a>
          ))}
          {STOPPABLE.includes(state) && <GiveUp jobId={job.id} refresh={refresh} />}
        </p>
      </div>
    </article>
  );
}

function JobPicture({ job }: { job: JobPartsFragment }) {
  const { workspaceId } = useRoom();
  const made = job.outputs.find((work) => 'previewUrl' in work && work.previewUrl);
  const source = made && 'previewUrl' in made ? made.previewUrl : null;
  if (!made || !source) {
    return (
      <span className={`job-picture ${job.state}`} aria-hidden="true">
        {MEDIA_SIGNS[job.kind]}
      </span>
    );
  }
  return (
    <a className="job-picture" href={linkTo(workspaceId, { workId: made.id })}>
      <img src={source} alt={made.title} loading="lazy" />
    </a>
  );
}

function GiveUp({ jobId, refresh }: { jobId: string; refresh: () => void }) {
  const { api, say } = useStudio();
  const { isReadOnly } = useRoom();
  const doing = useDoing(async () => {
    await api.run(CancelJob, { input: { jobId } });
    refresh();
  });
  if (isReadOnly) return null;
  return (
    <>
      <button type="button" className="plain danger small" disabled={doing.isBusy} onClick={() => void doing.run()}>
        {say('giveUp')}
      </button>
      <Refusal error={doing.error} />
    </>
  );
}
