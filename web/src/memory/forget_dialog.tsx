/** Forgetting: first what would go and what stays, word for word; then a person's word; then what went. */
import { createContext, useState } from 'react';

import { Dialog } from '../frame/dialog';
import { Notice, Refusal } from '../frame/notice';
import { ForgetThis, type ForgetThisMutation } from '../operations/generated';
import { useAsked, useDoing, useRoom, useStudio } from '../studio';
import { readAll } from './all';
import { reachOf, type Memory, type Reach } from './reach';

/** Asks whether a memory is to be forgotten. It stands above the lists, which the memory leaves while one reads what went. */
export const ForgetContext = createContext<(memory: Memory) => void>(() => undefined);

interface Properties {
  memory: Memory;
  close: () => void;
}

export function ForgetDialog({ memory, close }: Properties) {
  const { api, say } = useStudio();
  const { workspaceId } = useRoom();
  // Read once: what the person agrees to does not change under their eyes.
  const { data: all, error, refresh } = useAsked(() => readAll(api, workspaceId), `memories ${workspaceId}`);
  const [went, setWent] = useState<ForgetThisMutation['forget'] | null>(null);
  const doing = useDoing(async () => {
    const { forget } = await api.run(ForgetThis, { input: { memoryId: memory.id } });
    setWent(forget);
  });
  const reach = all && reachOf(memory, all);
  return (
    <Dialog title={say(went ? 'forgotten' : 'forgetTitle')} close={close}>
      {!reach && !went && <Notice error={error} retry={refresh} />}
      {reach && !went && <Preview reach={reach} target={memory} />}
      {went && (
        <p role="status">
          {say('wentAway', { scrubbed: went.scrubbed.length, unlinked: went.unlinked.length })}
          {went.reextracted.length > 0 && ` ${say('derivedAnew', { count: went.reextracted.length })}`}
        </p>
      )}
      <Refusal error={doing.error} />
      <div className="row end">
        <button type="button" className={went ? 'primary' : ''} onClick={close} autoFocus>
          {say(went ? 'close' : 'keepIt')}
        </button>
        {!went && (
          <button type="button" className="destroy" disabled={!reach || doing.isBusy} onClick={() => void doing.run()}>
            {say('forgetForGood')}
          </button>
        )}
      </div>
    </Dialog>
  );
}

function Preview({ reach, target }: { reach: Reach; target: Memory }) {
  const { say } = useStudio();
  const others = reach.scrubbed.filter(({ memory }) => memory.id !== target.id);
  const own = reach.scrubbed.find(({ memory }) => memory.id === target.id);
  return (
    <div className="preview">
      <h3>{say('goesAway')}</h3>
      <ul className="goes">
        {[...(own?.versions ?? [])].reverse().map((version) => (
          <li key={version.version}>
            <del>{version.content}</del>
          </li>
        ))}
      </ul>
      {others.length > 0 && (
        <>
          <h3>{say('goesToo', { count: others.length })}</h3>
          <ul className="goes">
            {others.flatMap(({ memory, versions }) =>
              versions.map((version) => (
                <li key={`${memory.id} ${version.version}`}>
                  <del>{version.content}</del> <span className="quiet">{say(`scope_${memory.scope}`)}</span>
                </li>
              )),
            )}
          </ul>
        </>
      )}
      <h3>{say('notUsedAnyMore', { count: reach.messages.length })}</h3>
      <ul className="goes">
        {reach.messages.map(({ id, text }) => (
          <li key={id}>
            <q>{text}</q>
          </li>
        ))}
      </ul>
      {reach.unlinked.length > 0 && (
        <>
          <h3>{say('losesSupport', { count: reach.unlinked.length })}</h3>
          <ul className="goes">
            {reach.unlinked.map((memory) => (
              <li key={memory.id}>{memory.versions.findLast(({ content }) => content !== null)?.content}</li>
            ))}
          </ul>
        </>
      )}
      <h3>{say('staysThere')}</h3>
      <p className="quiet">{say('staysThereText')}</p>
    </div>
  );
}
