/**
 * A question to a person: what is asked, what there is to look at, and the answers as buttons.
 *
 * Invariants
 * - An answer is final: while one is under way nothing else can be pressed, and one that came too late is said so.
 */
import { useState } from 'react';

import { ApiError } from '../api/errors';
import { Markdown } from '../frame/markdown';
import { Refusal } from '../frame/notice';
import { TaskPill } from '../frame/pill';
import { linkTo } from '../frame/place';
import { Answer, type CardPartsFragment } from '../operations/generated';
import { useDoing, useRoom, useStudio } from '../studio';
import { WorkChip } from '../work/work_chip';
import { CardCost } from './card_cost';
import { CardPictures, LargerPicture, previewOf } from './card_pictures';
import { randomKey } from './outbox';

interface Properties {
  card: CardPartsFragment;
  /** Whether it stands at its task, which needs no naming then. */
  inTask: boolean;
  refresh: () => void;
}

export function CardView({ card, inTask, refresh }: Properties) {
  const { api, say } = useStudio();
  const { workspaceId, isReadOnly } = useRoom();
  const [comment, setComment] = useState('');
  const [key] = useState(randomKey);
  const doing = useDoing(async (optionId: string | null) => {
    const words = comment.trim();
    const input = {
      cardId: card.id,
      idempotencyKey: `${key}-${optionId ?? ''}`,
      ...(optionId && { optionId }),
      ...(words && { comment: words }),
    };
    const { answerCard } = await api.run(Answer, { input });
    refresh();
    if (answerCard.__typename === 'CardNotOpen') throw new ApiError('CARD_NOT_OPEN', say('cardNotOpen'));
  });
  const isClosed = card.state !== 'OPEN' || isReadOnly;
  // What can not be undone, or costs something, takes an option; elsewhere words are an answer too.
  const takesWords = !['APPROVE_COST', 'CONFIRM_IRREVERSIBLE'].includes(card.kind);
  return (
    <section className={`question ${card.kind}`} aria-label={say(`card_${card.kind}`)}>
      <p className="label">
        {say(`card_${card.kind}`)}
        {!inTask && card.task && (
          <>
            {' · '}
            <a href={linkTo(workspaceId, { taskId: card.task.id })}>{card.task.title}</a>
          </>
        )}
      </p>
      <Markdown text={card.prompt} />
      {card.message && !inTask && <blockquote className="quiet">{card.message.text}</blockquote>}
      {card.cost && <CardCost cost={card.cost} />}
      <CardPictures works={card.works.filter(({ id }) => !card.options.some(({ work }) => work?.id === id))} taskId={card.task?.id ?? null} />
      {!isClosed && takesWords && (
        <textarea
          rows={1}
          aria-label={say('comment')}
          placeholder={say('comment')}
          value={comment}
          onChange={(event) => setComment(event.target.value)}
        />
      )}
      <div className={card.options.some(({ work }) => previewOf(work)) ? 'options with-pictures' : 'options'}>
        {card.options.map((option) => (
          <OptionButton
            key={option.id}
            option={option}
            isRecommended={option.id === card.recommended}
            isDisabled={isClosed || doing.isBusy}
            choose={() => void doing.run(option.id)}
          />
        ))}
        {takesWords && !isClosed && comment.trim() !== '' && (
          <button type="button" disabled={doing.isBusy} onClick={() => void doing.run(null)}>
            {say('answerWithWords')}
          </button>
        )}
      </div>
      <Refusal error={doing.error} />
    </section>
  );
}

interface OptionProperties {
  option: CardPartsFragment['options'][number];
  isRecommended: boolean;
  isDisabled: boolean;
  choose: () => void;
}

function OptionButton({ option, isRecommended, isDisabled, choose }: OptionProperties) {
  const { say } = useStudio();
  const { work, task } = option;
  const words = (
    <>
      <span>{option.label}</span>
      {isRecommended && <small className="recommended">{say('recommended')}</small>}
      {option.detail && <small>{option.detail}</small>}
      {task && <TaskPill status={task.status} />}
    </>
  );
  const button = (
    <button type="button" className={isRecommended ? 'option primary' : 'option'} disabled={isDisabled} onClick={choose}>
      {words}
    </button>
  );
  if (!work) return button;
  return (
    <div className="picture-option">
      {previewOf(work) ? <LargerPicture work={work} /> : <WorkChip work={work} />}
      {button}
    </div>
  );
}
