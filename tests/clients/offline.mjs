/**
 * Edits while nobody is connected, and while the server is dead; acknowledged means stored.
 */
import { ask, assert, check, finish, options, until } from './lib/check.mjs'
import { CLIENTS, HOCUSPOCUS, open } from './lib/editors.mjs'
import { Server } from './lib/server.mjs'

const server = new Server(options())
const DURABLE_ROUNDS = 3

for (const client of CLIENTS) {
  await check(`${client}: edits made offline arrive at the reconnect`, async () => {
    const work = await server.createWork()
    const ada = await open(client, server, work)
    const ben = await open('y-websocket-3', server, work)
    ada.append('together. ')
    await ben.untilText(text => text === 'together. ', 'the first change')
    ada.disconnect()
    await until(() => !ada.synced, `${client}: offline`)
    ada.append('offline Ada. ')
    ben.append('online Ben. ')
    ada.reconnect()
    const isWhole = text => text.includes('offline Ada. ') && text.includes('online Ben. ')
    await ben.untilText(isWhole, 'the offline change')
    await ada.untilText(isWhole, 'the change of the other')
    assert(ada.text.toString() === ben.text.toString(), 'the replicas differ')
    ada.destroy()
    ben.destroy()
  })
}

await check('every client goes on after the server was killed and started again', async () => {
  const work = await server.createWork()
  const editors = []
  for (const client of CLIENTS) editors.push(await open(client, server, work))
  for (const editor of editors) editor.append(`${editor.client} before. `)
  for (const editor of editors) {
    await editor.untilText(text => CLIENTS.every(client => text.includes(`${client} before. `)), 'all changes')
  }
  await ask('kill')
  for (const editor of editors) editor.append(`${editor.client} meanwhile. `)
  await ask('start')
  const isWhole = text => CLIENTS.every(client => ['before', 'meanwhile'].every(when => text.includes(`${client} ${when}. `)))
  for (const editor of editors) await editor.untilText(isWhole, 'what was written while the server was dead', 60_000)
  const texts = new Set(editors.map(editor => editor.text.toString()))
  assert(texts.size === 1, 'the replicas differ')
  for (const editor of editors) editor.destroy()
})

for (const client of HOCUSPOCUS) {
  await check(`${client}: what counts as synced has survived a kill right after`, async () => {
    const work = await server.createWork()
    for (let round = 1; round <= DURABLE_ROUNDS; round += 1) {
      const editor = await open(client, server, work)
      await until(() => editor.unsynced === 0, `${client}: nothing is open at first`)
      editor.append(`round ${round}. `)
      assert(editor.unsynced > 0, 'an edit counts as stored before it was sent')
      await until(() => editor.unsynced === 0, `${client}: the edit is stored`)
      const killed = ask('kill')
      editor.destroy()
      await killed
      await ask('start')
      const reader = await open('y-websocket-3', server, work)
      assert(reader.text.toString().includes(`round ${round}. `), `round ${round} is lost: ${reader.text}`)
      reader.destroy()
    }
  })
}

finish()
