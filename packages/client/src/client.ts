import type { LogStreamMessage } from '@slipway/contracts'
import { Connection, type ConnectionOptions } from './connection.ts'
import { type LogFilter, type LogPage, openLogText, readLogPage } from './log-pages.ts'
import { type FollowOptions, followLogs } from './log-stream.ts'
import type { Credentials, LoginCode } from './session.ts'
import type { Answer, CallOptions, InputArguments, Item, ListOperation, OperationId, Schema } from './types.ts'

const PAGE = 100

interface PageOf<T> {
  data: T[]
  meta: Schema<'PageMeta'>
}

interface ListRequest extends CallOptions {
  query: Record<string, string | number>
}

const LOG_PAGE = 1_000

/**
 * Calls the operations of the API by their ids in the OpenAPI document. Throws ApiError, or its subclass for the status, after a
 * refusal, and ConnectionError if the server does not answer.
 */
export class SlipwayClient {
  readonly #connection: Connection

  constructor(options: ConnectionOptions) {
    this.#connection = new Connection(options)
  }

  /** Logs in for later calls. Not needed with a token in the options. */
  async login(credentials: Credentials): Promise<void> {
    await this.#connection.login(credentials)
  }

  /** Completes a login in the browser. Returns who logged in. */
  async loginWithCode(code: LoginCode): Promise<Schema<'User'>> {
    return await this.#connection.loginWithCode(code)
  }

  /** Ends this session alone, on this machine. */
  async endSession(): Promise<void> {
    await this.#connection.endSession()
  }

  /** Ends all sessions of the user, on all machines. */
  async logout(): Promise<void> {
    await this.#connection.logout()
  }

  /**
   * Calls an operation. Retries reads and calls with an idempotency key while the server does not answer. Retries any call that was
   * refused before it could take effect.
   */
  async call<O extends OperationId>(operation: O, ...[input]: InputArguments<O>): Promise<Answer<O>> {
    return await this.#connection.call(operation, input)
  }

  /**
   * Iterates over all records of a list. Reads each page when its first record is needed. Records that are created or deleted
   * meanwhile make it skip no other, unless `sort` asks for an order of its own: such a list has numbered pages only.
   */
  async *each<O extends ListOperation>(
    operation: O,
    ...[input]: InputArguments<O>
  ): AsyncGenerator<Item<O>, void, undefined> {
    const { query, ...rest } = (input ?? {}) as { query?: Record<string, string> } & CallOptions
    const { page: _, ...filter } = query ?? {}
    if (filter['sort'] !== undefined) {
      for (let page = 1, more = true; more; page += 1) {
        const request: ListRequest = { ...rest, query: { limit: PAGE, ...filter, page } }
        const { data, meta } = (await this.#connection.call(operation, request)) as PageOf<Awaited<Item<O>>>
        yield* data
        more = meta.has_next
      }
      return
    }
    for (let cursor: string | null = 'start'; cursor !== null; ) {
      const request: ListRequest = { ...rest, query: { limit: PAGE, ...filter, cursor } }
      const { data, meta } = (await this.#connection.call(operation, request)) as PageOf<Awaited<Item<O>>>
      yield* data
      cursor = meta.next_cursor ?? null
    }
  }

  /** Reads one page of the log of a deployment, and how long the log is. */
  readLog(id: string, query: Parameters<typeof readLogPage>[2] = {}): Promise<LogPage> {
    return readLogPage(this.#connection, id, query)
  }

  /** Opens the log of a deployment as text of any length. The caller reads the body of the answer. */
  openLogText(id: string, query: Parameters<typeof openLogText>[2] = {}): Promise<Response> {
    return openLogText(this.#connection, id, query)
  }

  /** Iterates over the present log lines of a deployment that fit the filter, from number `from` on. */
  async *logLines(
    id: string,
    { from = 0, ...rest }: LogFilter & { from?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<Schema<'LogEntry'>, void, undefined> {
    for (let next = from; ; ) {
      const page = await this.readLog(id, { ...rest, from: next, limit: LOG_PAGE })
      yield* page.entries
      if (page.next >= page.lines) return
      next = page.next
    }
  }

  /** Follows the live log until the deployment has ended; see `followLogs`. */
  followLogs(id: string, options: FollowOptions = {}): AsyncGenerator<LogStreamMessage, void, undefined> {
    return followLogs(this.#connection, id, options)
  }
}
