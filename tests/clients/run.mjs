/**
 * Starts a server on an empty data folder and runs checks against it:
 *
 *     node run.mjs path/to/atelier sync.mjs idle.mjs …
 *
 * Kills and starts the server when a check asks for it. Passes the checks' lines on, and exits with 1 when one failed.
 * The server's log is printed when a check failed. `ATELIER_DATABASE_URL` and the like reach the server.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const START_LIMIT_MS = 30_000
const folder = dirname(fileURLToPath(import.meta.url))
const [binary, ...checks] = process.argv.slice(2)
if (!binary || checks.length === 0) {
  throw new Error('usage: node run.mjs path/to/atelier CHECK.mjs…')
}

const dataDir = await mkdtemp(join(tmpdir(), 'atelier-clients-'))
const port = await freePort()
const url = `http://127.0.0.1:${port}`
const token = `check-${crypto.randomUUID()}`
const log = []
let server

async function freePort () {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  await once(probe, 'close')
  return port
}

async function start () {
  server = spawn(binary, ['serve'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ATELIER_LISTEN: `127.0.0.1:${port}`,
      ATELIER_PUBLIC_URL: url,
      ATELIER_DATA_DIR: dataDir,
      ATELIER_BOOTSTRAP_TOKEN: token,
      ATELIER_RATE_LIMIT: 'off'
    }
  })
  server.stdout.on('data', chunk => log.push(chunk))
  server.stderr.on('data', chunk => log.push(chunk))
  const deadline = Date.now() + START_LIMIT_MS
  while (!(await isReady())) {
    if (server.exitCode !== null || Date.now() > deadline) {
      throw new Error(`the server did not start:\n${Buffer.concat(log)}`)
    }
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

async function isReady () {
  try {
    return (await fetch(`${url}/readyz`)).ok
  } catch {
    return false
  }
}

async function end (signal) {
  if (server.exitCode === null && server.signalCode === null) {
    server.kill(signal)
    await once(server, 'exit')
  }
}

async function createWorkspace () {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({
      query: 'mutation { createWorkspace(input: { name: "Client checks" }) { workspace { id } } }'
    })
  })
  const body = await response.json()
  if (body.errors) {
    throw new Error(JSON.stringify(body.errors))
  }
  return body.data.createWorkspace.workspace.id
}

async function answer (request) {
  if (request === 'kill') {
    await end('SIGKILL')
  } else if (request === 'start') {
    await start()
  } else {
    return 'unknown'
  }
  return 'done'
}

async function run (check, workspace) {
  const args = [join(folder, check), '--url', url, '--token', token, '--workspace', workspace]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  for await (const line of createInterface({ input: child.stdout })) {
    const request = parse(line)?.ask
    if (request) {
      child.stdin.write(`${await answer(request)}\n`)
    } else {
      console.log(line)
    }
  }
  if (child.exitCode === null) {
    await once(child, 'exit')
  }
  return child.exitCode === 0
}

/** Clients write to the console too; what is no JSON is theirs. */
function parse (line) {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

let failed = false
try {
  await start()
  const workspace = await createWorkspace()
  for (const check of checks) {
    failed = !(await run(check, workspace)) || failed
  }
} catch (error) {
  console.error(error)
  failed = true
} finally {
  await end('SIGKILL')
  if (failed) {
    console.error(`the server's log:\n${Buffer.concat(log).toString().slice(-20_000)}`)
  }
  await rm(dataDir, { recursive: true, force: true })
}
process.exit(failed ? 1 : 0)
