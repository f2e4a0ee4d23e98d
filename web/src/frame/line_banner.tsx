/** Says when the line to the server is lost; what is shown stays, and goes on by itself when it is back. */
import { useSyncExternalStore } from 'react';

import { useStudio } from '../studio';

export function LineBanner() {
  const { api, say } = useStudio();
  const line = useSyncExternalStore(api.watchLine, api.line);
  return (
    <div role="status" className={line === 'lost' ? 'line-banner' : 'line-banner hidden'}>
      {line === 'lost' && say('lineLost')}
    </div>
  );
}
