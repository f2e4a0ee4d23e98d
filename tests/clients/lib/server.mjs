/**
 * The server through its GraphQL, as far as the checks need it: works, people, tokens.
 */
import { assert } from './check.mjs'

/** A caller of one server. */
export class Server {
  constructor ({ url, token, workspace }) {
    this.url = url.replace(/\/$/, '')
    this.token = token
    this.workspace = workspace
  }

  /** The address of sockets. */
  get socketUrl () {
    return this.url.replace(/^http/, 'ws')
  }

  /** Runs a mutation or query and returns its data. */
  async run (query, variables) {
    const response = await fetch(`${this.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.token}` },
      body: JSON.stringify({ query, variables })
    })
    const body = await response.json()
    assert(!body.errors, JSON.stringify(body.errors))
    return body.data
  }

  /** Makes a work and returns its id. */
  async createWork (kind = 'TEXT') {
    const data = await this.run(
      'mutation ($input: CreateWorkInput!) { createWork(input: $input) { work { id } } }',
      { input: { workspaceId: this.workspace, kind, title: 'Client check' } }
    )
    return data.createWork.work.id
  }

  /** Puts a work into the bin. */
  async deleteWork (workId) {
    await this.run(
      'mutation ($input: DeleteWorkInput!) { deleteWork(input: $input) { work { id } } }',
      { input: { workId } }
    )
  }

  /** Adds somebody, or changes the role of somebody who is there; returns the user's id. */
  async addMember (email, role, name = 'Client check') {
    const data = await this.run(
      'mutation ($input: AddMemberInput!) { addMember(input: $input) { member { user { id } } } }',
      { input: { workspaceId: this.workspace, email, name, role } }
    )
    return data.addMember.member.user.id
  }

  /** Removes a member. */
  async removeMember (userId) {
    await this.run(
      'mutation ($input: RemoveMemberInput!) { removeMember(input: $input) { workspace { id } } }',
      { input: { workspaceId: this.workspace, userId } }
    )
  }

  /** Makes a token of the caller, or the first one of a new member. */
  async createToken ({ userId, expiresAt } = {}) {
    const input = { label: 'client check', kind: 'PERSONAL', expiresAt }
    if (userId) {
      Object.assign(input, { userId, workspaceId: this.workspace })
    }
    const data = await this.run(
      'mutation ($input: CreateTokenInput!) { createToken(input: $input) { token { id } secret } }',
      { input }
    )
    return { id: data.createToken.token.id, secret: data.createToken.secret }
  }

  /** Revokes a token of the caller. */
  async revokeToken (id) {
    await this.run(
      'mutation ($input: RevokeTokenInput!) { revokeToken(input: $input) { revokedId } }',
      { input: { id } }
    )
  }

  /** The same server for a new person with this role: `person.email`, `person.userId` and a token of its own. */
  async newPerson (role) {
    const email = `check-${crypto.randomUUID()}@example.com`
    const userId = await this.addMember(email, role)
    const { secret } = await this.createToken({ userId })
    const person = new Server({ url: this.url, token: secret, workspace: this.workspace })
    return Object.assign(person, { email, userId })
  }
}
