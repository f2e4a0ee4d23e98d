/**
 * Markdown as React elements.
 *
 * Invariants
 * - Nothing is ever set as HTML: tags in a text are shown as the text that they are.
 * - Links lead to http, https and mailto only, and open elsewhere; pictures of other hosts are links, not loaded.
 */
import { marked, type Token, type Tokens } from 'marked';
import { Fragment, useMemo, type ReactNode } from 'react';

export function Markdown({ text }: { text: string }) {
  const tokens = useMemo(() => marked.lexer(text, { gfm: true, breaks: true }), [text]);
  return <div className="markdown">{blocks(tokens)}</div>;
}

/** Whether a link may be followed. */
export function isSafe(href: string): boolean {
  return /^(https?:|mailto:)/i.test(href.trim());
}

function blocks(tokens: Token[]): ReactNode[] {
  return tokens.map((token, index) => <Fragment key={index}>{block(token)}</Fragment>);
}

function block(token: Token): ReactNode {
  switch (token.type) {
    case 'heading':
      return <p className="heading">{inline(token.tokens)}</p>;
    case 'paragraph':
      return <p>{inline(token.tokens)}</p>;
    case 'blockquote':
      return <blockquote>{blocks(token.tokens ?? [])}</blockquote>;
    case 'code':
      return (
        <pre>
          <code>{token.text}</code>
        </pre>
      );
    case 'list':
      return list(token as Tokens.List);
    case 'table':
      return table(token as Tokens.Table);
    case 'hr':
      return <hr />;
    case 'space':
    case 'def':
      return null;
    case 'text':
      return token.tokens ? inline(token.tokens) : token.text;
    default:
      return token.raw;
  }
}

function list(token: Tokens.List): ReactNode {
  const items = token.items.map((item, index) => (
    <li key={index}>
      {item.task && <input type="checkbox" checked={item.checked === true} disabled />}
      {blocks(item.tokens)}
    </li>
  ));
  return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function table(token: Tokens.Table): ReactNode {
  return (
    <div className="wide">
      <table>
        <thead>
          <tr>
            {token.header.map((cell, index) => (
              <th key={index}>{inline(cell.tokens)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, at) => (
                <td key={at}>{inline(cell.tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(tokens: Token[] | undefined): ReactNode[] {
  return (tokens ?? []).map((token, index) => <Fragment key={index}>{piece(token)}</Fragment>);
}

function piece(token: Token): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong>{inline(token.tokens)}</strong>;
    case 'em':
      return <em>{inline(token.tokens)}</em>;
    case 'del':
      return <del>{inline(token.tokens)}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'link':
    case 'image':
      return link(token as Tokens.Link);
    case 'escape':
      return token.text;
    case 'text':
      return token.tokens ? inline(token.tokens) : token.text;
    default:
      return token.raw;
  }
}

function link(token: Tokens.Link): ReactNode {
  if (!isSafe(token.href)) return token.raw;
  return (
    <a href={token.href} target="_blank" rel="noopener noreferrer nofollow">
      {token.text || token.href}
    </a>
  );
}
