import type { LogStreamMessage } from '@slipway/contracts'
import { Connection, type ConnectionOptions } from './connection.ts'
import { type FollowOptions, followLogs } from './log-stream.ts'
import type { Credentials } from './session.ts'
import type { Answer, CallOptions, InputArguments, Item, ListOperation, OperationId, Schema } from './types.ts'

const PAGE = 100
const LOG_PAGE = 1_000

/**
 * The API with its types: every operation by its id in the OpenAPI document. A refusal is thrown as ApiError (or the
 * class of its status), an absent server as ConnectionError.
 */
export class SlipwayClient {
  readonly #connection: Connection

  constructor(options: ConnectionOptions) {
    this.#connection = new Connection(options)
  }

  /** Logs in, so that later calls use the session. Not needed with a token in the options. */
  async login(credentials: Credentials): Promise<void> {
    await this.#connection.login(credentials)
  }

  /** Ends all sessions of the user. */
  async logout(): Promise<void> {
    await this.#connection.logout()
  }

  /**
   * One operation. Reads, and what carries an idempotency key, are sent again while the server is away; so is whatever
   * was turned away before it could have an effect.
   */
  async call<O extends OperationId>(operation: O, ...[input]: InputArguments<O>): Promise<Answer<O>> {
    return await this.#connection.call(operation, input)
  }

  /** Every record of a list. Fetches each page when its first record is needed. */
  async *each<O extends ListOperation>(
    operation: O,
    ...[input]: InputArguments<O>
  ): AsyncGenerator<Item<O>, void, undefined> {
    const seen = new Set<unknown>()
    const { query, ...rest } = (input ?? {}) as { query?: Record<string, string> } & CallOptions
    for (let page = 1; ; page += 1) {
      const request = { ...rest, query: { limit: PAGE, ...query, page } }
      const { data, meta } = (await this.#connection.call(operation, request)) as {
        data: Item<O>[]
        meta: Schema<'PageMeta'>
      }
      for (const item of data) {
        // New records push others to the next page, where they appear a second time.
        const { id } = item as { id?: string }
        if (id !== undefined && seen.has(id)) continue
        seen.add(id)
        yield item as Awaited<Item<O>>
      }
      if (!meta.has_next) return
    }
  }

  /** The log lines that a deployment has now, from number `from` on. */
  async *logLines(
    id: string,
    { from = 0, signal }: { from?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<Schema<'LogEntry'>, void, undefined> {
    for (let offset = from; ; offset += LOG_PAGE) {
      const query = { offset, limit: LOG_PAGE }
      const request = { params: { id }, query, ...(signal ? { signal } : {}) }
      const lines = await this.#connection.call('listDeploymentLogs', request)
      yield* lines
      if (lines.length < LOG_PAGE) return
    }
  }

  /** The live log, until the deployment has ended; see `followLogs`. */
  followLogs(id: string, options: FollowOptions = {}): AsyncGenerator<LogStreamMessage, void, undefined> {
    return followLogs(this.#connection, id, options)
  }
}
