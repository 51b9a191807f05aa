import http from 'node:http'
import https from 'node:https'
import type { SecureContext } from 'node:tls'
import type { Logger } from '../logger.ts'
import { CA_FILE, explainTlsError } from './bridge-tls-error.ts'
import { type DownloadAnswer, download } from './download.ts'
import { type Answer, type Exchange, exchange, NoAnswer } from './exchange.ts'
import { TrustedRoots } from './trusted-roots.ts'

/** Shorter than the idle timeout of Slipway's servers, so no call uses a connection that the server closes. */
const KEEP_ALIVE_MS = 30_000

/** The default limit of an answer. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024

interface JsonPost extends Pick<Exchange, 'agent' | 'body' | 'to' | 'timeoutMs' | 'endingMs' | 'idleMs' | 'signal'> {
  maxAnswerBytes?: number
  url: string
  /** The credential of the caller. */
  token: string
}

/** Posts JSON to another part of Slipway. */
export function postJson({ token, maxAnswerBytes = MAX_ANSWER_BYTES, ...post }: JsonPost): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return exchange({ ...post, headers, maxAnswerBytes })
}

interface BridgeConnectionsOptions {
  /** The value of SLIPWAY_BRIDGE_CA_FILE. By default, the CA certificates of the system are trusted. */
  caFile: string | undefined
  /** The setting with the URL of the bridge, for error messages: SLIPWAY_BRIDGE_URL or an option. */
  urlSetting: string
  logger: Logger
  /** The shortest time between two looks at the file, by default a second. */
  checkMs?: number
}

/** Syncs have connections of their own: a heartbeat never uses one that other calls left half-open. */
type Purpose = 'sync' | 'calls'

interface Pool {
  plain: http.Agent
  encrypted: { agent: https.Agent; context: SecureContext } | null
}

const newPool = (): Pool => ({ plain: new http.Agent({ keepAlive: true, timeout: KEEP_ALIVE_MS }), encrypted: null })

interface BridgeDownload {
  url: string
  token: string
  /** The download fails after this time without a byte. */
  idleMs: number
}

/**
 * The pooled connections of an instance or an agent to the executor-bridge. The certificate of an https bridge is always
 * verified. Redirects are not followed.
 */
export class BridgeConnections {
  readonly #roots: TrustedRoots
  readonly #urlSetting: string
  readonly #pools: Record<Purpose, Pool> = { sync: newPool(), calls: newPool() }

  /** @throws ConfigurationError if the file of CA certificates cannot be used */
  constructor({ caFile, urlSetting, logger, checkMs }: BridgeConnectionsOptions) {
    this.#roots = new TrustedRoots(
      caFile === undefined ? undefined : { variable: CA_FILE, file: caFile },
      logger,
      checkMs,
    )
    this.#urlSetting = urlSetting
    if (process.env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
      logger.warn(
        'NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect: the certificate of the bridge is always verified. Unset it',
      )
    }
  }

  /** Posts JSON. Throws BridgeTlsError and network errors. */
  async post({ purpose = 'calls', ...post }: Omit<JsonPost, 'to' | 'agent'> & { purpose?: Purpose }): Promise<Answer> {
    const agent = this.agentFor(post.url, purpose)
    const answer = await this.#explained(post.url, postJson({ ...post, to: 'the bridge', agent }))
    answer.body.catch((error) => this.#closeIdleAfter(error))
    return answer
  }

  /** Gets a body of any size. Throws BridgeTlsError and network errors. */
  download({ url, token, idleMs }: BridgeDownload): Promise<DownloadAnswer> {
    const headers = { authorization: `Bearer ${token}` }
    return this.#explained(url, download({ url, headers, to: 'the bridge', agent: this.agentFor(url), idleMs }))
  }

  /** The current connection pool for a URL. A changed file of CA certificates leads to a new pool. */
  agentFor(url: string, purpose: Purpose = 'calls'): http.Agent {
    const pool = this.#pools[purpose]
    if (!url.startsWith('https:')) return pool.plain
    const { context } = this.#roots
    if (pool.encrypted?.context !== context) {
      // Connections of the old pool end after their calls, or after KEEP_ALIVE_MS without a call.
      const agent = new https.Agent({
        keepAlive: true,
        timeout: KEEP_ALIVE_MS,
        secureContext: context,
        // Overrides NODE_TLS_REJECT_UNAUTHORIZED.
        rejectUnauthorized: true,
      })
      pool.encrypted = { agent, context }
    }
    return pool.encrypted.agent
  }

  /** Returns a BridgeTlsError for a TLS problem, else the error itself. */
  explain(error: unknown, url: string): unknown {
    return explainTlsError(error, url, this.#urlSetting)
  }

  async #explained<T>(url: string, call: Promise<T>): Promise<T> {
    try {
      return await call
    } catch (error) {
      this.#closeIdleAfter(error)
      throw this.explain(error, url)
    }
  }

  /** After one silent connection, the idle ones may be half-open, too: the next call would wait for its timeout again. */
  #closeIdleAfter(error: unknown): void {
    if (!(error instanceof NoAnswer)) return
    const agents = Object.values(this.#pools).flatMap(({ plain, encrypted }) => [plain, encrypted?.agent])
    for (const socket of agents.flatMap((agent) => Object.values(agent?.freeSockets ?? {})).flat()) socket?.destroy()
  }
}
