/** All works of the workspace, by kind, and a place to make a new one. */
import { useState } from 'react';

import { Notice, Refusal } from '../frame/notice';
import { linkTo } from '../frame/place';
import { MakeWork, WorkList, type WorkKind } from '../operations/generated';
import { moment } from '../strings/moments';
import { useDoing, useLiveQuery, useRoom, useStudio } from '../studio';
import { randomKey } from '../talk/outbox';

/** In the order in which they are offered. */
const CREATABLE = ['STORYBOARD', 'TEXT', 'FLOW', 'COLLECTION'] as const;
const KINDS: WorkKind[] = [...CREATABLE, 'ASSET'];
const PAGE = 50;
const MOST = 100;

export function WorksPage({ go }: { go: (hash: string) => void }) {
  const { say, language } = useStudio();
  const { workspaceId, isReadOnly } = useRoom();
  const [kind, setKind] = useState<WorkKind | ''>('');
  const [first, setFirst] = useState(PAGE);
  const { data, error, refresh } = useLiveQuery(
    WorkList,
    { id: workspaceId, kinds: kind === '' ? null : [kind], first },
    (event) => event.kind.startsWith('WORK_'),
  );
  const page = data?.workspace?.works;
  return (
    <section className="sheet" aria-label={say('works')}>
      <h1>{say('works')}</h1>
      {!isReadOnly && <NewWork go={go} />}
      <label className="filter">
        {say('show')}
        <select value={kind} onChange={(event) => setKind(event.target.value as WorkKind | '')}>
          <option value="">{say('everything')}</option>
          {KINDS.map((each) => (
            <option key={each} value={each}>
              {say(each)}
            </option>
          ))}
        </select>
      </label>
      {!page && <Notice error={error} retry={refresh} />}
      {page?.nodes.length === 0 && <p className="quiet">{say('noWorks')}</p>}
      <ul className="work-grid">
        {page?.nodes.map((work) => (
          <li key={work.id}>
            <a href={linkTo(workspaceId, { workId: work.id })}>
              {'previewUrl' in work && work.previewUrl ? <img src={work.previewUrl} alt="" loading="lazy" /> : <span className={`cover ${work.kind}`} />}
              <span className="title">{work.title}</span>
              <span className="quiet">
                {say(work.kind)}, <time dateTime={work.updatedAt}>{moment(work.updatedAt, language)}</time>
              </span>
            </a>
          </li>
        ))}
      </ul>
      {page?.pageInfo.hasNextPage && first < MOST && (
        <button type="button" onClick={() => setFirst(MOST)}>
          {say('more')}
        </button>
      )}
    </section>
  );
}

function NewWork({ go }: { go: (hash: string) => void }) {
  const { api, say } = useStudio();
  const { workspaceId } = useRoom();
  const [title, setTitle] = useState('');
  const [kind, setKind] = useState<(typeof CREATABLE)[number]>('STORYBOARD');
  const [key, setKey] = useState(randomKey);
  const doing = useDoing(async () => {
    const { createWork } = await api.run(MakeWork, { input: { workspaceId, kind, title: title.trim(), idempotencyKey: key } });
    setTitle('');
    setKey(randomKey());
    go(linkTo(workspaceId, { workId: createWork.work.id }));
  });
  return (
    <form
      className="new-work"
      aria-label={say('newWork')}
      onSubmit={(event) => {
        event.preventDefault();
        void doing.run();
      }}
    >
      <label>
        {say('title')}
        <input value={title} onChange={(event) => setTitle(event.target.value)} required maxLength={200} />
      </label>
      <label>
        {say('kind')}
        <select value={kind} onChange={(event) => setKind(CREATABLE.find((each) => each === event.target.value) ?? kind)}>
          {CREATABLE.map((each) => (
            <option key={each} value={each}>
              {say(each)}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" className="primary" disabled={doing.isBusy || title.trim() === ''}>
        {say('create')}
      </button>
      <Refusal error={doing.error} />
    </form>
  );
}
