/** What stands where data should: that it is being read, or why it can not be; and refusals in plain words. */
import { inWords, type ApiError } from '../api/errors';
import { useStudio } from '../studio';

export function Notice({ error, retry }: { error: ApiError | null; retry: () => void }) {
  const { say } = useStudio();
  if (!error) {
    return (
      <p className="quiet loading" role="status">
        {say('loading')}
      </p>
    );
  }
  return (
    <p role="alert" className="notice">
      {inWords(error, say)}{' '}
      <button type="button" onClick={retry}>
        {say('retry')}
      </button>
    </p>
  );
}

/** Why something that a person did was refused. */
export function Refusal({ error }: { error: ApiError | null }) {
  const { say } = useStudio();
  return error && <p role="alert">{inWords(error, say)}</p>;
}
