/**
 * Forty seconds in which nobody does anything: no client may believe the server dead and connect anew.
 */
import { assert, check, finish, options } from './lib/check.mjs'
import { CLIENTS, open } from './lib/editors.mjs'
import { Server } from './lib/server.mjs'

const IDLE_MS = 40_000

const server = new Server(options())
const viewer = await server.newPerson('VIEWER')
const editors = []

await check('every client connects, to write and to read', async () => {
  for (const client of CLIENTS) {
    for (const person of [server, viewer]) {
      const editor = await open(client, person, await server.createWork())
      editors.push(Object.assign(editor, { role: person === viewer ? 'viewer' : 'editor' }))
    }
  }
})

// A lone client without awareness of its own gives the server nothing to echo.
for (const editor of editors) editor.awareness?.setLocalState(null)
const before = editors.map(editor => editor.connects)
await new Promise(resolve => setTimeout(resolve, IDLE_MS))

for (const [index, editor] of editors.entries()) {
  await check(`${editor.client} (${editor.role}) stays connected through 40 idle seconds`, async () => {
    assert(editor.closes.length === 0, `closed with ${editor.closes}`)
    assert(editor.connects === before[index], `connected ${editor.connects - before[index]} times anew`)
    assert(editor.synced, 'it is not synced')
  })
  editor.destroy()
}

finish()
