/** What stands where data should: that it is being read, or why it can not be. */
import type { ApiError } from './api';
import { useStudio } from './studio';

export function Notice({ error, retry }: { error: ApiError | null; retry: () => void }) {
  const { say } = useStudio();
  if (!error) return <p className="quiet">{say('loading')}</p>;
  return (
    <p role="alert" className="notice">
      {error.code === 'UNAVAILABLE' ? say('unavailable') : error.message}{' '}
      <button type="button" onClick={retry}>
        {say('retry')}
      </button>
    </p>
  );
}
