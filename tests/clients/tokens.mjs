/**
 * Rights that change while a socket is open: tokens that expire, are refreshed or revoked, roles, members, deleted works.
 */
import { assert, check, finish, options, until } from './lib/check.mjs'
import { CLIENTS, HOCUSPOCUS, Y_WEBSOCKET, open } from './lib/editors.mjs'
import { Server } from './lib/server.mjs'

/** Clients that answer when the server asks for their token again; version 2 does not know the question. */
const REFRESHING = HOCUSPOCUS.filter(client => !client.endsWith('-2'))
const LIFETIME_MS = 6_000

const server = new Server(options())
const inMs = ms => new Date(Date.now() + ms).toISOString()
const isShutOut = (editor, code) => editor.denials.length > 0 || editor.closes.includes(code)

for (const client of CLIENTS) {
  await check(`${client}: a revoked token ends the connection`, async () => {
    const work = await server.createWork()
    const token = await server.createToken()
    const editor = await open(client, server, work, { token: token.secret })
    await server.revokeToken(token.id)
    await until(() => isShutOut(editor, 4401), `${client}: shut out`)
    await cannotWrite(editor, work)
  })

  await check(`${client}: an expired token ends the connection`, async () => {
    const work = await server.createWork()
    const token = await server.createToken({ expiresAt: inMs(2_000) })
    const editor = await open(client, server, work, { token: token.secret })
    await until(() => isShutOut(editor, 4401), `${client}: shut out`)
    await cannotWrite(editor, work)
  })

  await check(`${client}: a removed member is shut out`, async () => {
    const work = await server.createWork()
    const person = await server.newPerson('EDITOR')
    const editor = await open(client, person, work)
    await server.removeMember(person.userId)
    await until(() => isShutOut(editor, 4403), `${client}: shut out`)
    await cannotWrite(editor, work)
  })

  await check(`${client}: a deleted work is closed`, async () => {
    const work = await server.createWork()
    const editor = await open(client, server, work)
    await server.deleteWork(work)
    await until(() => isShutOut(editor, 4404), `${client}: closed`)
    editor.destroy()
  })

  await check(`${client}: a role that changes is felt at once, both ways`, async () => {
    const work = await server.createWork()
    const person = await server.newPerson('EDITOR')
    const editor = await open(client, person, work)
    const observer = await open('y-websocket-3', server, work)
    editor.append('as editor. ')
    await observer.untilText(text => text === 'as editor. ', 'the change of an editor')

    await server.addMember(person.email, 'VIEWER')
    await until(() => isReadOnly(editor), `${client}: the scope`)
    // Clients of the other protocol are not told: an edit shows whether the server has noticed.
    editor.append('as viewer. ')
    observer.append('as owner. ')
    await editor.untilText(text => text.includes('as owner. '), 'what others write')
    assert(!observer.text.toString().includes('as viewer'), 'a viewer has written')

    await server.addMember(person.email, 'EDITOR')
    await observer.untilText(text => text.includes('as viewer. '), 'what was kept back arrives')
    editor.append('as editor again. ')
    await observer.untilText(text => text.includes('as editor again. '), 'the editor is back')
    editor.destroy()
    observer.destroy()
  })
}

for (const client of REFRESHING) {
  await check(`${client}: a token is refreshed without a gap`, async () => {
    const work = await server.createWork()
    let given = 0
    const token = async () => {
      given += 1
      return (await server.createToken({ expiresAt: inMs(LIFETIME_MS) })).secret
    }
    const editor = await open(client, server, work, { token })
    await until(() => given >= 2, `${client}: asked for another token`)
    const observer = await open('y-websocket-3', server, work)
    const end = Date.now() + 2 * LIFETIME_MS
    for (let round = 1; Date.now() < end; round += 1) {
      editor.append(`${round} `)
      await observer.untilText(text => text.endsWith(`${round} `), 'an edit arrives')
      await new Promise(resolve => setTimeout(resolve, 500))
    }
    assert(editor.denials.length === 0, `denied: ${editor.denials}`)
    assert(editor.closes.length === 0, `closed: ${editor.closes}`)
    editor.destroy()
    observer.destroy()
  })
}

await check('y-websocket-3 does not come back after a final refusal', async () => {
  const work = await server.createWork()
  const token = await server.createToken()
  const editor = await open('y-websocket-3', server, work, { token: token.secret })
  await server.revokeToken(token.id)
  await until(() => editor.closes.includes(4401), 'closed')
  const closes = editor.closes.length
  await new Promise(resolve => setTimeout(resolve, 3_000))
  assert(editor.closes.length === closes, 'it has connected again')
  editor.destroy()
})

/** For clients that are told; the others count as told when the server has had a moment. */
function isReadOnly (editor) {
  if (!Y_WEBSOCKET.includes(editor.client)) {
    return editor.scope === 'readonly'
  }
  return new Promise(resolve => setTimeout(() => resolve(true), 500))
}

/** What is written by somebody who was shut out is not stored. */
async function cannotWrite (editor, work) {
  editor.append('too late')
  const observer = await open('y-websocket-3', server, work)
  await new Promise(resolve => setTimeout(resolve, 300))
  assert(observer.text.toString() === '', `stored was: ${observer.text}`)
  observer.destroy()
  editor.destroy()
}

finish()
