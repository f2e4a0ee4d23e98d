/** Why something was done: from a call back to the step, its reason, the messages that it had read, and the prompts. */
import { useState } from 'react';

import { Dialog } from '../frame/dialog';
import { Markdown } from '../frame/markdown';
import { Notice } from '../frame/notice';
import { WhyCall } from '../operations/generated';
import { moment } from '../strings/moments';
import { useQuery, useStudio } from '../studio';
import { ToolName } from './now';

export function Why({ callId }: { callId: string }) {
  const { say } = useStudio();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="plain" onClick={() => setOpen(true)}>
        {say('why')}
      </button>
      {isOpen && <CallReason callId={callId} close={() => setOpen(false)} />}
    </>
  );
}

function CallReason({ callId, close }: { callId: string; close: () => void }) {
  const { say } = useStudio();
  const { data, error, refresh } = useQuery(WhyCall, { id: callId });
  return (
    <Dialog title={say('why')} close={close}>
      {!data && <Notice error={error} retry={refresh} />}
      {data && !data.call && <p>{say('noReason')}</p>}
      {data?.call && (
        <p>
          <ToolName tool={data.call.tool} />
        </p>
      )}
      {data?.call?.step && <Reason step={data.call.step} />}
    </Dialog>
  );
}

export interface DecidedStep {
  turnNumber?: number;
  number?: number;
  rationale: string;
  decidedAt: string;
  consumed: { id: string; text: string; author: { label: string } }[];
  prompts: { sequence: number; text: string }[];
}

/** The decision itself. */
export function Reason({ step }: { step: DecidedStep }) {
  const { say, language } = useStudio();
  return (
    <dl className="reasons">
      <dt>{say('decision')}</dt>
      <dd>
        {step.rationale}{' '}
        <span className="quiet">
          {step.turnNumber !== undefined && step.number !== undefined && say('turnStep', { turn: step.turnNumber, step: step.number })}{' '}
          {moment(step.decidedAt, language)}
        </span>
      </dd>
      <dt>{say('messagesRead')}</dt>
      <dd>
        {step.consumed.length === 0 && say('none')}
        {step.consumed.map(({ id, text, author }) => (
          <blockquote key={id}>
            {author.label}: {text}
          </blockquote>
        ))}
      </dd>
      {step.prompts.length > 0 && (
        <>
          <dt>{say('promptsGiven')}</dt>
          <dd>
            {step.prompts.map(({ sequence, text }) => (
              <Markdown key={sequence} text={text} />
            ))}
          </dd>
        </>
      )}
    </dl>
  );
}
