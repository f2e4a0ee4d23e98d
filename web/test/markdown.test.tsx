/** Markdown of people and of the agent: drawn, and never trusted. */
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';

import { isSafe, Markdown } from '../src/frame/markdown';

const drawn = (text: string): string => renderToStaticMarkup(<Markdown text={text} />);

test('what Markdown means is drawn', () => {
  expect(drawn('**bold** and `code`\n\n- one\n- two')).toBe(
    '<div class="markdown"><p><strong>bold</strong> and <code>code</code></p><ul><li>one</li><li>two</li></ul></div>',
  );
  expect(drawn('| a |\n| - |\n| b |')).toContain('<td>b</td>');
});

test('tags are shown as text, whatever they are', () => {
  for (const text of [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    'a <b onclick="x()">b</b> <iframe src="//evil"></iframe>',
    '<svg/onload=alert(1)>',
    '<!-- --><style>*{}</style>',
  ]) {
    expect(drawn(text)).not.toMatch(/<(script|img|b|iframe|svg|style)\b/);
  }
});

test('links lead to the web and to mail only', () => {
  expect(drawn('[go](https://example.org)')).toContain('href="https://example.org"');
  for (const href of ['javascript:alert(1)', ' JavaScript:alert(1)', 'data:text/html,x', 'vbscript:x', '//evil.example', '#/x']) {
    expect(isSafe(href), href).toBe(false);
    expect(drawn(`[go](<${href}>)`)).not.toContain('href');
  }
});

test('a picture of another host is a link and is not loaded', () => {
  const html = drawn('![cat](https://example.org/cat.png)');
  expect(html).not.toContain('<img');
  expect(html).toContain('>cat</a>');
});

test('characters that mean something to HTML are themselves', () => {
  expect(drawn('a < b & "c"')).toContain('a &lt; b &amp; &quot;c&quot;');
});
