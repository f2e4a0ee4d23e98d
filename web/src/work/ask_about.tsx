/** A word to the agent about a work: it goes to the task that works on it. */
import { Post } from '../operations/generated';
import { linkTo } from '../frame/place';
import { Refusal } from '../frame/notice';
import { useDoing, useRoom, useStudio } from '../studio';
import { Composer } from '../talk/composer';
import { randomKey, type Draft } from '../talk/outbox';

interface Properties {
  workId: string;
  close: () => void;
  go: (hash: string) => void;
}

export function AskAbout({ workId, close, go }: Properties) {
  const { api, say } = useStudio();
  const { workspaceId } = useRoom();
  const doing = useDoing(async ({ text, attachmentIds }: Draft) => {
    const input = { workspaceId, text, attachmentIds, aboutWorkId: workId, idempotencyKey: randomKey() };
    const { postMessage } = await api.run(Post, { input });
    close();
    // Where several tasks work on it the router decides, and says so in the conversation.
    go(linkTo(workspaceId, postMessage.message.task ? { taskId: postMessage.message.task.id, workId } : {}));
  });
  return (
    <div className="ask-about">
      <Composer label={say('askAboutHint')} draftKey={`about ${workId}`} post={doing.run} />
      <Refusal error={doing.error} />
    </div>
  );
}
