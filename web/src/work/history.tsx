/** The history of a work: who changed what and when, what it looked like, and back to it. */
import { useState } from 'react';

import { having } from '../api/operation';
import { ApiError } from '../api/errors';
import { More } from '../frame/more';
import { Notice, Refusal } from '../frame/notice';
import { linkTo } from '../frame/place';
import { RestoreVersion, WhyWork, WorkHistory, type RevisionPartsFragment, type WorkKind } from '../operations/generated';
import { moment } from '../strings/moments';
import { useDoing, useLivePages, useQuery, useRoom, useStudio } from '../studio';
import { Reason } from '../tasks/why';
import { Comparison } from './comparison';

interface Properties {
  workId: string;
  kind: WorkKind;
  /** The present version. */
  version: number;
}

const PAGE = 30;

export function History({ workId, kind, version }: Properties) {
  const { say } = useStudio();
  const [open, setOpen] = useState<number | null>(null);
  const { list, error, refresh, more } = useLivePages(
    WorkHistory,
    { id: workId, first: PAGE },
    { connection: ({ node }) => having(node, 'history')?.history, concerns: ({ subject }) => subject?.id === workId },
  );
  if (!list) return <Notice error={error} retry={refresh} />;
  const { nodes } = list;
  return (
    <aside className="history" aria-label={say('history')}>
      <h2>{say('history')}</h2>
      {nodes.length === 0 && <p className="quiet">{say('noHistory')}</p>}
      <ol>
        {nodes.map((revision) => (
          <RevisionView
            key={revision.fromVersion}
            revision={revision}
            workId={workId}
            kind={kind}
            version={version}
            isOpen={open === revision.fromVersion}
            toggle={() => setOpen(open === revision.fromVersion ? null : revision.fromVersion)}
          />
        ))}
      </ol>
      <More list={list} more={more} />
    </aside>
  );
}

interface RevisionProperties extends Properties {
  revision: RevisionPartsFragment;
  isOpen: boolean;
  toggle: () => void;
}

function RevisionView({ revision, workId, kind, version, isOpen, toggle }: RevisionProperties) {
  const { say, language } = useStudio();
  const { workspaceId, isReadOnly } = useRoom();
  const { by, at, summary, fromVersion, toVersion } = revision;
  const [against, setAgainst] = useState<'before' | 'now'>('before');
  const [isWhy, setWhy] = useState(false);
  return (
    <li className={isOpen ? 'revision open' : 'revision'}>
      <button type="button" className="plain" aria-expanded={isOpen} onClick={toggle}>
        <b>{by.kind === 'AGENT' ? say('agent') : by.label}</b>{' '}
        <time className="quiet" dateTime={at}>
          {moment(at, language)}
        </time>
        <span className="quiet"> {fromVersion === toVersion ? `v${toVersion}` : `v${fromVersion}–${toVersion}`}</span>
        <br />
        {summary}
      </button>
      {isOpen && (
        <div className="revision-body">
          {by.task && (
            <p className="quiet">
              {say('forTask')} <a href={linkTo(workspaceId, { taskId: by.task.id, workId })}>{by.task.title}</a>
            </p>
          )}
          <div className="row">
            <button type="button" aria-pressed={against === 'before'} onClick={() => setAgainst('before')}>
              {say('whatChanged')}
            </button>
            {toVersion !== version && (
              <button type="button" aria-pressed={against === 'now'} onClick={() => setAgainst('now')}>
                {say('againstNow')}
              </button>
            )}
            {by.kind === 'AGENT' && (
              <button type="button" aria-pressed={isWhy} onClick={() => setWhy(!isWhy)}>
                {say('why')}
              </button>
            )}
            {!isReadOnly && toVersion !== version && <Restore workId={workId} version={toVersion} present={version} />}
          </div>
          {isWhy && <WorkReason workId={workId} toVersion={toVersion} />}
          {kind !== 'ASSET' && (
            <Comparison
              workId={workId}
              from={against === 'before' ? fromVersion - 1 : toVersion}
              to={against === 'before' ? toVersion : version}
            />
          )}
        </div>
      )}
    </li>
  );
}

function Restore({ workId, version, present }: { workId: string; version: number; present: number }) {
  const { api, say } = useStudio();
  const [changes, setChanges] = useState<RevisionPartsFragment[] | null>(null);
  const doing = useDoing(async () => {
    const { restoreVersion } = await api.run(RestoreVersion, { input: { workId, version, baseVersion: present } });
    // The list is drawn anew by the event; here only what stands in the way is said.
    setChanges(restoreVersion.__typename === 'VersionConflict' ? restoreVersion.changes : null);
    if (restoreVersion.__typename === 'NodeConflict') throw new ApiError('CONFLICT', say('restoreConflict'));
  });
  return (
    <>
      <button type="button" disabled={doing.isBusy} onClick={() => void doing.run()}>
        {say('restore', { version })}
      </button>
      {changes && (
        <div role="alert" className="conflict">
          <p>{say('restoreConflict')}</p>
          <ul>
            {changes.map(({ by, summary, toVersion }) => (
              <li key={toVersion}>
                <b>{by.kind === 'AGENT' ? say('agent') : by.label}</b>: {summary} <span className="quiet">v{toVersion}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
      <Refusal error={doing.error} />
    </>
  );
}

function WorkReason({ workId, toVersion }: { workId: string; toVersion: number }) {
  const { say } = useStudio();
  const { data, error, refresh } = useQuery(WhyWork, { id: workId });
  const node = having(data?.node, 'history');
  if (!node) return <Notice error={error} retry={refresh} />;
  const step = node.history.nodes.find((each) => each.toVersion === toVersion)?.by.step;
  return step ? <Reason step={step} /> : <p className="quiet">{say('noReason')}</p>;
}
