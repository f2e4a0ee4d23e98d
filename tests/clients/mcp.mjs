/**
 * An outside agent, through the client library that such agents use, edits a storyboard beside a person in a Yjs editor.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

import { assert, check, finish, options, until } from './lib/check.mjs'
import { open } from './lib/editors.mjs'
import { Server } from './lib/server.mjs'

const server = new Server(options())

/** An agent that has joined with this token. */
async function join (token) {
  const agent = new Client({ name: 'client-check', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } }
  })
  await agent.connect(transport)
  return agent
}

/** What a tool gives; fails where it refuses. */
async function call (agent, name, args) {
  const result = await agent.callTool({ name, arguments: args })
  assert(!result.isError, `${name}: ${JSON.stringify(result)}`)
  return result.structuredContent
}

/** The fields of a shot, as plain values. */
function shot (editor, id) {
  return editor.doc.getMap('nodes').get(id)?.toJSON()
}

await check('an agent joins, and is told what it can do', async () => {
  const agent = await join(server.token)
  assert(agent.getServerVersion().name === 'atelier', JSON.stringify(agent.getServerVersion()))
  assert(agent.getInstructions().includes('base_version'), 'it is told how to edit')
  const { tools } = await agent.listTools()
  const names = tools.map(tool => tool.name)
  for (const name of ['list_works', 'read_work', 'edit_nodes', 'post_message', 'read_task', 'search']) {
    assert(names.includes(name), `${name} is not among ${names}`)
  }
  await agent.ping()
  await agent.close()
})

await check('a bad token joins nothing', async () => {
  let refusal
  await join('nonsense').catch(error => { refusal = error })
  assert(refusal !== undefined, 'it joined')
})

await check('an agent edits beside a person, gets a conflict of nodes, and resolves it', async () => {
  const person = await server.newPerson('EDITOR')
  const agent = await join(server.token)
  const made = await call(agent, 'create_work', {
    workspace_id: server.workspace,
    kind: 'storyboard',
    title: 'The keeper',
    nodes: [
      { id: 'shot-1', type: 'shot', fields: { title: 'Dusk', description: 'The lamp is lit.' } },
      { id: 'shot-2', type: 'shot', fields: { title: 'Night', description: 'A ship.' } }
    ]
  })
  const board = { work_id: made.work_id }
  const editor = await open('y-websocket-3', person, made.work_id)
  assert(shot(editor, 'shot-1').description === 'The lamp is lit.', 'the person sees what the agent made')
  const read = await call(agent, 'read_work', board)

  // The person types into the first shot while the agent thinks.
  editor.doc.getMap('nodes').get('shot-1').get('description').insert(0, 'Rain. ')
  const other = await open('hocuspocus-provider-4', server, made.work_id)
  await until(() => shot(other, 'shot-1').description.startsWith('Rain.'), 'the words are stored')

  const rewrite = (base, description) => ({
    ...board,
    base_version: base,
    operations: [{ set: { nodeId: 'shot-1', fields: { description } } }],
    summary: 'closer to the lamp'
  })
  const refused = await agent.callTool({
    name: 'edit_nodes', arguments: rewrite(read.at_version, 'Close on the lamp.')
  })
  const conflict = refused.structuredContent
  assert(refused.isError && conflict.__typename === 'NodeConflict', JSON.stringify(refused))
  const [{ nodeId, current, changedBy }] = conflict.conflicts
  assert(nodeId === 'shot-1' && current.fields.description === 'Rain. The lamp is lit.', JSON.stringify(conflict))
  assert(changedBy.label === 'Client check' && changedBy.program === null, JSON.stringify(changedBy))
  assert(shot(editor, 'shot-1').description === 'Rain. The lamp is lit.', 'nothing of the person was lost')

  // It keeps what the person wrote, and goes on from there.
  const resolved = await call(
    agent, 'edit_nodes', rewrite(conflict.currentVersion, `${current.fields.description} Close on the lamp.`)
  )
  const whole = 'Rain. The lamp is lit. Close on the lamp.'
  await until(() => shot(editor, 'shot-1').description === whole, 'the person sees both')
  const seen = () => [...editor.awareness.getStates().values()].map(state => state.user?.name ?? '')
  await until(() => seen().some(name => name.includes('(')), `the agent is seen at work: ${seen()}`)
  const history = await call(agent, 'read_history', board)
  const [newest] = history.history.nodes
  assert(newest.toVersion === resolved.version && newest.by.program, JSON.stringify(newest))
  assert(newest.summary === 'closer to the lamp', JSON.stringify(newest))
  for (const one of [editor, other]) one.destroy()
  await agent.close()
})

finish()
