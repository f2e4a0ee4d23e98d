/**
 * Hocuspocus with its SQLite extension, with the settings that both come with.
 * Arguments: the port and the file of the database.
 */
import { SQLite } from '@hocuspocus/extension-sqlite'
import { Server } from '@hocuspocus/server'

const [port, database] = process.argv.slice(2)
const server = new Server({
  address: '127.0.0.1',
  port: Number(port),
  quiet: true,
  extensions: [new SQLite({ database })],
})
await server.listen()
