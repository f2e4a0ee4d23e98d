/** What stands under a list that goes on: a button for the next page, and that it is being read. */
import { useStudio } from '../studio';
import type { Word } from '../strings';

interface Properties {
  list: { hasMore: boolean; isReading: boolean } | null;
  more: () => void;
  word?: Word;
}

export function More({ list, more, word = 'more' }: Properties) {
  const { say } = useStudio();
  if (!list?.hasMore) return null;
  return (
    <button type="button" className="more" aria-busy={list.isReading} disabled={list.isReading} onClick={more}>
      {say(list.isReading ? 'loading' : word)}
    </button>
  );
}
