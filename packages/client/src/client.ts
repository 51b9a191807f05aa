import type { CurrentUser, LoginResponse, SseTokenResponse, Static } from '@slipway/contracts'
import * as catalog from './catalog.ts'
import { Connection, type ConnectionOptions } from './connection.ts'
import { Deployments } from './deployments.ts'

/**
 * The API with its types. Requests log in by themselves when credentials were given; a refusal is thrown as ApiError, an
 * absent server as ConnectionError.
 */
export class SlipwayClient {
  readonly connection: Connection
  readonly deployments: Deployments
  readonly actions: ReturnType<typeof catalog.actions>
  readonly sequences: ReturnType<typeof catalog.sequences>
  readonly solutions: ReturnType<typeof catalog.solutions>
  readonly targets: ReturnType<typeof catalog.targets>
  readonly environments: ReturnType<typeof catalog.environments>

  constructor(options: ConnectionOptions) {
    this.connection = new Connection(options)
    this.deployments = new Deployments(this.connection)
    this.actions = catalog.actions(this.connection)
    this.sequences = catalog.sequences(this.connection)
    this.solutions = catalog.solutions(this.connection)
    this.targets = catalog.targets(this.connection)
    this.environments = catalog.environments(this.connection)
  }

  async login(): Promise<Static<typeof LoginResponse>> {
    return await this.connection.login()
  }

  async me(): Promise<Static<typeof CurrentUser>> {
    return await this.connection.call('getCurrentUser')
  }

  /** A token that opens one live stream. */
  async createSseToken(): Promise<Static<typeof SseTokenResponse>> {
    return await this.connection.call('createSseToken', { body: {} })
  }
}
