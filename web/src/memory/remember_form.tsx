/** Something to remember at a person's word. */
import { useState } from 'react';

import { Refusal } from '../frame/notice';
import { RememberThis, type MemoryKind, type MemoryScope } from '../operations/generated';
import { useDoing, useRoom, useStudio } from '../studio';
import { LONGEST } from './memory_card';

const KINDS: MemoryKind[] = ['FACT', 'PREFERENCE'];
const SCOPES: MemoryScope[] = ['PERSON', 'WORKSPACE'];

export function RememberForm() {
  const { api, say } = useStudio();
  const { workspaceId } = useRoom();
  const [content, setContent] = useState('');
  const [kind, setKind] = useState<MemoryKind>('FACT');
  const [scope, setScope] = useState<MemoryScope>('PERSON');
  const doing = useDoing(async () => {
    await api.run(RememberThis, { input: { workspaceId, content: content.trim(), kind, scope } });
    setContent('');
  });
  return (
    <form
      className="new-memory"
      aria-label={say('rememberThis')}
      onSubmit={(event) => {
        event.preventDefault();
        void doing.run();
      }}
    >
      <label className="wide-field">
        {say('rememberThis')}
        <textarea
          rows={1}
          maxLength={LONGEST}
          placeholder={say('rememberHint')}
          value={content}
          onChange={(event) => setContent(event.target.value)}
        />
      </label>
      <label>
        {say('kind')}
        <select value={kind} onChange={(event) => setKind(event.target.value as MemoryKind)}>
          {KINDS.map((each) => (
            <option key={each} value={each}>
              {say(`memoryKind_${each}`)}
            </option>
          ))}
        </select>
      </label>
      <label>
        {say('reach')}
        <select value={scope} onChange={(event) => setScope(event.target.value as MemoryScope)}>
          {SCOPES.map((each) => (
            <option key={each} value={each}>
              {say(`scope_${each}`)}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" className="primary" disabled={doing.isBusy || content.trim() === ''}>
        {say('remember')}
      </button>
      <Refusal error={doing.error} />
    </form>
  );
}
