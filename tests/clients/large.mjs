/**
 * A document of ten megabytes, written by one client and opened by every other.
 */
import { assert, check, finish, options, until } from './lib/check.mjs'
import { CLIENTS, open } from './lib/editors.mjs'
import { Server } from './lib/server.mjs'

const BYTES = 10 * 1024 * 1024
const LIMIT_MS = 60_000

const server = new Server(options())
const paragraph = 'The quick brown fox jumps over the lazy dog. '
const content = paragraph.repeat(Math.ceil(BYTES / paragraph.length)).slice(0, BYTES)
const work = await server.createWork()

await check('ten megabytes are written in one change', async () => {
  const writer = await open('hocuspocus-provider-4', server, work)
  writer.append(content)
  await until(() => writer.unsynced === 0, 'stored', LIMIT_MS)
  writer.destroy()
})

for (const client of CLIENTS) {
  await check(`${client} opens ten megabytes and edits them`, async () => {
    const editor = await open(client, server, work)
    await editor.untilText(text => text.length >= BYTES, 'the whole text', LIMIT_MS)
    const observer = await open('y-websocket-3', server, work)
    await observer.untilText(text => text.length >= BYTES, 'the whole text', LIMIT_MS)
    editor.append(client)
    await observer.untilText(text => text.endsWith(client), 'a small edit of a large document')
    assert(observer.text.toString().startsWith(content.slice(0, 1_000)), 'the text is another one')
    editor.destroy()
    observer.destroy()
  })
}

finish()
