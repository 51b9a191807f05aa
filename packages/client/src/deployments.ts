import type {
  CancelDeployment,
  CommandResult,
  CreateDeployment,
  CreateQueued,
  CreateStarted,
  DeploymentDetail,
  DeploymentSummary,
  LogEntry,
  LogStreamMessage,
  PendingRequest,
  Preview,
  RedeployDeployment,
  Static,
} from '@slipway/contracts'
import type { ListQuery, Page } from './catalog.ts'
import type { Connection } from './connection.ts'
import { type FollowOptions, followLogs } from './log-stream.ts'

type CreateBody = Static<typeof CreateDeployment>
type Detail = Static<typeof DeploymentDetail>
type Queued = Static<typeof CreateQueued>
type Pending = Static<typeof PendingRequest>

export interface DeploymentQuery extends ListQuery {
  tenant_id?: string
  environment_id?: string
  state?: Detail['state']
  source_type?: Detail['source_type']
}

/** Creating, reading and controlling deployments and what waits in the queue. */
export class Deployments {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  async list(query: DeploymentQuery = {}): Promise<Page<Static<typeof DeploymentSummary>>> {
    return await this.#connection.call('listDeployments', { query: { ...query } })
  }

  async preview(body: CreateBody): Promise<Static<typeof Preview>> {
    return await this.#connection.call('previewDeployment', { body })
  }

  /** Starts a deployment, or queues it while no instance is free; `pending` tells which. */
  async create(body: Omit<CreateBody, 'dry_run'>): Promise<Static<typeof CreateStarted> | Queued> {
    return await this.#connection.call('createDeployment', { body })
  }

  async get(id: string): Promise<Detail> {
    return await this.#connection.call('getDeployment', { params: { id } })
  }

  async cancel(id: string, body: Static<typeof CancelDeployment> = {}): Promise<Detail> {
    return await this.#connection.call('cancelDeployment', { params: { id }, body })
  }

  async redeploy(id: string, body: Static<typeof RedeployDeployment> = {}): Promise<Detail | Queued> {
    return await this.#connection.call('redeployDeployment', { params: { id }, body })
  }

  async listPending(query: { tenant_id?: string; status?: Pending['status'] } = {}): Promise<Pending[]> {
    return await this.#connection.call('listPending', { query: { ...query } })
  }

  async cancelPending(id: string): Promise<void> {
    await this.#connection.call('cancelPending', { params: { id } })
  }

  /** Log lines from number `offset` on, at most `limit` of them (100 unless given). */
  async history(id: string, query: { offset?: number; limit?: number } = {}): Promise<Static<typeof LogEntry>[]> {
    return await this.#connection.call('listDeploymentLogs', { params: { id }, query: { ...query } })
  }

  /** The results of the commands that ended, by the time they started. */
  async analysis(id: string): Promise<Static<typeof CommandResult>[]> {
    return await this.#connection.call('listCommandResults', { params: { id } })
  }

  /** The live log, until the deployment has ended; see `followLogs`. */
  followLogs(id: string, options: FollowOptions = {}): AsyncGenerator<LogStreamMessage, void, undefined> {
    return followLogs(this.#connection, id, options)
  }
}
