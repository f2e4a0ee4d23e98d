/** All works of the workspace, by kind, and a place to make a new one. */
import { useEffect, useState, type DragEvent } from 'react';

import { More } from '../frame/more';
import { Notice, Refusal } from '../frame/notice';
import { linkTo } from '../frame/place';
import { MakeWork, WorkList, type WorkKind } from '../operations/generated';
import { moment } from '../strings/moments';
import { useDoing, useLivePages, useRoom, useStudio } from '../studio';
import { FileButton } from '../talk/composer';
import { randomKey } from '../talk/outbox';
import { UploadList, useUploads } from '../talk/uploads';

/** In the order in which they are offered. */
const CREATABLE = ['STORYBOARD', 'TEXT', 'FLOW', 'COLLECTION'] as const;
const KINDS: WorkKind[] = [...CREATABLE, 'ASSET'];
const PAGE = 50;

export function WorksPage({ go }: { go: (hash: string) => void }) {
  const { say, language } = useStudio();
  const { workspaceId, isReadOnly } = useRoom();
  const [kind, setKind] = useState<WorkKind | ''>('');
  const [isOver, setOver] = useState(false);
  // The list itself shows what has come.
  const uploads = useUploads(() => undefined);
  const { takeFrom } = uploads;
  useEffect(() => {
    if (isReadOnly) return undefined;
    const pasted = (event: ClipboardEvent): void => {
      if (event.clipboardData && takeFrom(event.clipboardData)) event.preventDefault();
    };
    addEventListener('paste', pasted);
    return () => removeEventListener('paste', pasted);
  }, [isReadOnly, takeFrom]);
  const drops = {
    onDragOver: (event: DragEvent) => {
      if (!event.dataTransfer.types.includes('Files')) return;
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: (event: DragEvent) => {
      if (!event.currentTarget.contains(event.relatedTarget as Element | null)) setOver(false);
    },
    onDrop: (event: DragEvent) => {
      setOver(false);
      if (takeFrom(event.dataTransfer)) event.preventDefault();
    },
  };
  const { list, error, refresh, more } = useLivePages(
    WorkList,
    { id: workspaceId, kinds: kind === '' ? null : [kind], first: PAGE },
    { connection: ({ workspace }) => workspace?.works, concerns: (event) => event.kind.startsWith('WORK_') },
  );
  return (
    <section className={isOver ? 'sheet works-page over' : 'sheet works-page'} aria-label={say('works')} {...(isReadOnly ? {} : drops)}>
      <h1>{say('works')}</h1>
      {!isReadOnly && <NewWork go={go} />}
      {!isReadOnly && (
        <p className="row quiet">
          <FileButton className="" take={uploads.take} /> {say('dropHere')}
        </p>
      )}
      <UploadList uploads={uploads} />
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
      {!list && <Notice error={error} retry={refresh} />}
      {list?.nodes.length === 0 && <p className="quiet">{say('noWorks')}</p>}
      <ul className="work-grid">
        {list?.nodes.map((work) => (
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
      <More list={list} more={more} />
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
