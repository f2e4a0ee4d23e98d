/**
 * What is remembered as a file: everything the person may see, in a form that other programs can read.
 *
 * Not here: whole workspaces with their works and files (`atelier export`).
 */
import type { Memory } from './reach';

/** The content of the file, as JSON. */
export function exported(memories: readonly Memory[], workspace: { id: string; name: string }, at: Date): string {
  const memory = ({ versions, current, ...rest }: Memory) => ({
    ...rest,
    current: current?.version ?? null,
    versions: versions.map(({ evidence, derivedFrom, ...version }) => ({
      ...version,
      derivedFrom: derivedFrom.map(({ content, createdAt }) => ({ content, createdAt })),
      evidence: evidence.map(({ role, usable, quote, message }) => ({
        role,
        usable,
        quote,
        messageId: message.id,
        text: message.text,
        by: message.author.label,
        at: message.createdAt,
        taskId: message.task?.id ?? null,
      })),
    })),
  });
  return JSON.stringify({ workspace, exportedAt: at.toISOString(), memories: memories.map(memory) }, null, 2);
}

/** Hands a file to the browser to be saved. */
export function save(name: string, text: string, mediaType: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: mediaType }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  // The browser has taken what it needs once the click is over.
  setTimeout(() => URL.revokeObjectURL(url));
}
