/**
 * What two people see of each other: changes, awareness, reading only, several documents on one socket.
 */
import { assert, check, finish, options, until } from './lib/check.mjs'
import { CLIENTS, HOCUSPOCUS, connect, open, sharedSocket } from './lib/editors.mjs'
import { Server } from './lib/server.mjs'

const server = new Server(options())

for (const [index, client] of CLIENTS.entries()) {
  const other = CLIENTS[(index + 1) % CLIENTS.length]

  await check(`${client} and ${other} see each other's changes`, async () => {
    const work = await server.createWork()
    const ada = await open(client, server, work)
    const ben = await open(other, server, work)
    ada.append('from Ada. ')
    await ben.untilText(text => text.includes('Ada'), 'the change of the other')
    ben.append('from Ben. ')
    await ada.untilText(text => text === 'from Ada. from Ben. ', 'the answer')
    assert(ben.text.toString() === ada.text.toString(), 'the replicas differ')
    ada.destroy()
    ben.destroy()
  })

  await check(`${client}: awareness carries the name that the server knows`, async () => {
    const work = await server.createWork()
    const person = await server.newPerson('EDITOR')
    const ada = await open(client, person, work)
    const ben = await open(other, server, work)
    ada.awareness.setLocalStateField('user', { name: 'an impostor', color: '#f00' })
    const seen = () => ben.awareness.getStates().get(ada.doc.clientID)?.user
    await until(() => seen()?.name === 'Client check', `${client}: the name of the other`)
    assert(seen().id === person.userId, `the id is ${seen().id}`)
    ada.destroy()
    await until(() => seen() === undefined, `${client}: the other has gone`)
    ben.destroy()
  })

  await check(`${client}: a viewer receives and can not write`, async () => {
    const work = await server.createWork()
    const viewer = await server.newPerson('VIEWER')
    const reader = await open(client, viewer, work)
    const writer = await open(other, server, work)
    writer.append('readable. ')
    await reader.untilText(text => text === 'readable. ', 'the change of the writer')
    reader.append('not allowed. ')
    writer.append('after. ')
    await reader.untilText(text => text.includes('after. '), 'the later change')
    const fresh = await open(other, server, work)
    assert(fresh.text.toString() === 'readable. after. ', `stored was: ${fresh.text}`)
    if (HOCUSPOCUS.includes(client)) {
      assert(reader.scope === 'readonly', `the scope is ${reader.scope}`)
      assert(reader.unsynced > 0, 'a refused change counts as stored')
    }
    for (const editor of [reader, writer, fresh]) editor.destroy()
  })

  await check(`${client}: an unknown work and a bad token are refused`, async () => {
    const work = await server.createWork()
    const lost = connect(client, server, `work_${'0'.repeat(32)}`)
    const stranger = connect(client, server, work, { token: 'nonsense' })
    const refused = (editor, code) => editor.denials.length > 0 || editor.closes.includes(code)
    await until(() => refused(lost, 4404), `${client}: the unknown work is refused`)
    await until(() => refused(stranger, 4401), `${client}: the bad token is refused`)
    assert(!lost.synced && !stranger.synced, 'a refused client is synced')
    lost.destroy()
    stranger.destroy()
  })
}

for (const client of HOCUSPOCUS) {
  await check(`${client}: two documents on one socket`, async () => {
    const works = [await server.createWork(), await server.createWork()]
    const shared = sharedSocket(client, server)
    const [first, second] = works.map(work => connect(client, server, work, { shared }))
    await until(() => first.synced && second.synced, `${client}: both are synced`)
    const observer = await open('y-websocket-3', server, works[1])
    first.append('first')
    second.append('second')
    await observer.untilText(text => text === 'second', 'the second document alone')
    await until(() => first.unsynced === 0 && second.unsynced === 0, `${client}: both are stored`)
    first.destroy()
    second.append(', still here')
    await observer.untilText(text => text.endsWith('still here'), 'the second goes on without the first')
    second.destroy()
    shared.destroy()
    observer.destroy()
  })
}

await check('hocuspocus-provider-4: two editors of one document share a socket', async () => {
  const { HocuspocusProvider } = await import('hocuspocus-provider-4')
  const Y = await import('yjs')
  const work = await server.createWork()
  const shared = sharedSocket('hocuspocus-provider-4', server)
  const editors = [new Y.Doc(), new Y.Doc()].map(document => {
    const provider = new HocuspocusProvider({
      websocketProvider: shared, name: work, document, token: server.token, sessionAwareness: true
    })
    provider.attach()
    return provider
  })
  await until(() => editors.every(editor => editor.synced), 'both are synced')
  editors[0].document.getText('text').insert(0, 'shared')
  await until(() => editors[1].document.getText('text').toString() === 'shared', 'the other has it')
  for (const editor of editors) editor.destroy()
  shared.destroy()
})

finish()
