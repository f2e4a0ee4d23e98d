/**
 * One shape over the clients from npm, none of which is modified: open a work, see what the client sees, and what it counts.
 */
import WebSocket from 'ws'
import * as Y from 'yjs'

import { until } from './check.mjs'

/** Every client, by its alias in package.json. */
export const CLIENTS = [
  'y-websocket-2', 'y-websocket-3', 'hocuspocus-provider-2', 'hocuspocus-provider-3', 'hocuspocus-provider-4'
]

/** Those that speak the Hocuspocus protocol. */
export const HOCUSPOCUS = CLIENTS.filter(name => name.startsWith('hocuspocus'))

/** Those that speak the y-websocket protocol. */
export const Y_WEBSOCKET = CLIENTS.filter(name => name.startsWith('y-websocket'))

/** Opens a work; returns when the client says that it is synced. `token` may be a function for Hocuspocus clients. */
export async function open (client, server, work, settings = {}) {
  const editor = connect(client, server, work, settings)
  await until(() => editor.synced, `${client}: the first sync`)
  return editor
}

/** Opens a work without waiting. */
export function connect (client, server, work, { token = server.token, doc = new Y.Doc(), shared } = {}) {
  const make = client.startsWith('hocuspocus') ? HocuspocusEditor : YWebsocketEditor
  return new make(modules[client], { client, server, work, token, doc, shared })
}

/** The socket that several documents of one Hocuspocus client share. */
export function sharedSocket (client, server) {
  const { HocuspocusProviderWebsocket } = modules[client]
  return new HocuspocusProviderWebsocket({ url: `${server.socketUrl}/collab`, WebSocketPolyfill: WebSocket })
}

// Versions 2 and 3 of the Hocuspocus client look for it even where they are given another.
globalThis.WebSocket ??= WebSocket

const modules = Object.fromEntries(await Promise.all(CLIENTS.map(async name => [name, await import(name)])))

class Editor {
  constructor ({ client, doc }) {
    this.client = client
    this.doc = doc
    /** Close codes of the socket, in order. */
    this.closes = []
    /** How often the client has connected. */
    this.connects = 0
    /** Reasons of refusals that came inside the protocol. */
    this.denials = []
  }

  /** The text of a TEXT work. */
  get text () {
    return this.doc.getText('text')
  }

  /** Adds to the end of the text. */
  append (text) {
    this.text.insert(this.text.length, text)
  }

  /** Waits until the text fulfils something. */
  async untilText (predicate, what, limitMs) {
    await until(() => predicate(this.text.toString()), `${this.client}: ${what}`, limitMs)
  }
}

class YWebsocketEditor extends Editor {
  constructor ({ WebsocketProvider }, context) {
    super(context)
    const { server, work, token, doc } = context
    this.provider = new WebsocketProvider(`${server.socketUrl}/sync`, work, doc, {
      params: { token }, WebSocketPolyfill: WebSocket, disableBc: true
    })
    this.awareness = this.provider.awareness
    this.provider.on('status', ({ status }) => { this.connects += status === 'connected' ? 1 : 0 })
    this.provider.on('connection-close', event => { if (event) this.closes.push(event.code) })
  }

  get synced () {
    return this.provider.synced
  }

  disconnect () {
    this.provider.disconnect()
  }

  reconnect () {
    this.provider.connect()
  }

  destroy () {
    this.provider.destroy()
    this.doc.destroy()
  }
}

class HocuspocusEditor extends Editor {
  constructor ({ HocuspocusProvider }, context) {
    super(context)
    const { server, work, token, doc, shared } = context
    const socket = shared
      ? { websocketProvider: shared }
      : { url: `${server.socketUrl}/collab`, WebSocketPolyfill: WebSocket }
    this.scopes = []
    this.provider = new HocuspocusProvider({
      ...socket,
      name: work,
      document: doc,
      token,
      broadcast: false,
      onStatus: ({ status }) => { this.connects += status === 'connected' ? 1 : 0 },
      onClose: ({ event }) => this.closes.push(event.code),
      onAuthenticated: () => this.scopes.push(this.provider?.authorizedScope),
      onAuthenticationFailed: ({ reason }) => this.denials.push(reason)
    })
    this.awareness = this.provider.awareness
    if (shared && this.provider.attach) {
      this.provider.attach()
    }
  }

  get synced () {
    return this.provider.synced
  }

  /** Changes that the server has not said to be stored. */
  get unsynced () {
    return this.provider.unsyncedChanges
  }

  get scope () {
    return this.provider.authorizedScope
  }

  disconnect () {
    this.provider.configuration.websocketProvider.disconnect()
  }

  reconnect () {
    this.provider.configuration.websocketProvider.connect()
  }

  destroy () {
    this.provider.destroy()
    this.doc.destroy()
  }
}
