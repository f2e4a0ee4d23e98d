/**
 * The frame of a check: arguments, one JSON line per result, and questions to whoever started it.
 *
 * A line `{"check": …, "ok": …}` is a result; the process exits with 1 when one of them was not ok.
 * A line `{"ask": "kill"}` or `{"ask": "start"}` asks the one who started the script to kill the server at once (SIGKILL)
 * or to start it again on the same data; a line on standard input says that it is done.
 */
import { createInterface } from 'node:readline'

/** Arguments of the form `--name value`. */
export function options () {
  const found = {}
  for (let i = 2; i < process.argv.length; i += 2) {
    found[process.argv[i].replace(/^--/, '')] = process.argv[i + 1]
  }
  for (const name of ['url', 'token', 'workspace']) {
    if (!found[name]) {
      throw new Error('usage: node CHECK.mjs --url http://host:port --token SECRET --workspace ID')
    }
  }
  return found
}

let failures = 0

/** Runs one check and reports it; a failing check does not stop the next one. */
export async function check (name, body) {
  const started = Date.now()
  let error
  try {
    await body()
  } catch (caught) {
    error = String(caught?.stack ?? caught)
    failures += 1
  }
  console.log(JSON.stringify({ check: name, ok: error === undefined, ms: Date.now() - started, error }))
}

/** Ends the script with what the checks found. */
export function finish () {
  process.exit(failures === 0 ? 0 : 1)
}

/** Fails unless it is true. */
export function assert (fact, text) {
  if (!fact) {
    throw new Error(text)
  }
}

/** Waits until it is true. */
export async function until (predicate, what, limitMs = 15_000) {
  const deadline = Date.now() + limitMs
  while (!(await predicate())) {
    if (Date.now() > deadline) {
      throw new Error(`waited ${limitMs} ms in vain: ${what}`)
    }
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

const answers = []
const waiting = []
createInterface({ input: process.stdin })
  .on('line', line => {
    const next = waiting.shift()
    next ? next(line) : answers.push(line)
  })

/** Asks whoever started the script for something, and waits until it is done. */
export async function ask (what) {
  console.log(JSON.stringify({ ask: what }))
  const answer = answers.shift() ?? await new Promise(resolve => waiting.push(resolve))
  assert(answer === 'done', `${what}: ${answer}`)
}
