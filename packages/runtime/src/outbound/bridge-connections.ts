import http from 'node:http'
import https from 'node:https'
import type { SecureContext } from 'node:tls'
import type { Logger } from '../logger.ts'
import { TrustedRoots } from '../tls/trusted-roots.ts'
import { CA_FILE, explainTlsError } from './bridge-tls-error.ts'
import { type DownloadAnswer, download } from './download.ts'
import type { Answer } from './exchange.ts'
import { type JsonPost, KEEP_ALIVE_MS, postJson } from './post-json.ts'

export interface BridgeConnectionsOptions {
  /** The value of SLIPWAY_BRIDGE_CA_FILE; without it, the CA certificates of the system are trusted. */
  caFile: string | undefined
  /** Where the URL of the bridge comes from, for error messages: SLIPWAY_BRIDGE_URL or an option. */
  urlSetting: string
  logger: Logger
}

export interface BridgeDownload {
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
  readonly #plain = new http.Agent({ keepAlive: true, timeout: KEEP_ALIVE_MS })
  #encrypted: { agent: https.Agent; context: SecureContext } | null = null

  /** @throws ConfigurationError when the file of CA certificates cannot be used */
  constructor({ caFile, urlSetting, logger }: BridgeConnectionsOptions) {
    this.#roots = new TrustedRoots(caFile === undefined ? undefined : { variable: CA_FILE, file: caFile }, logger)
    this.#urlSetting = urlSetting
    if (process.env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
      logger.warn(
        'NODE_TLS_REJECT_UNAUTHORIZED=0 does not apply to the bridge, whose certificate is verified: unset it',
      )
    }
  }

  /** Posts JSON. Throws BridgeTlsError, and errors of the network. */
  post(post: Omit<JsonPost, 'to' | 'agent'>): Promise<Answer> {
    return this.#explained(post.url, postJson({ ...post, to: 'the bridge', agent: this.agentFor(post.url) }))
  }

  /** Gets a body of any size. Throws BridgeTlsError, and errors of the network. */
  download({ url, token, idleMs }: BridgeDownload): Promise<DownloadAnswer> {
    const headers = { authorization: `Bearer ${token}` }
    return this.#explained(url, download({ url, headers, to: 'the bridge', agent: this.agentFor(url), idleMs }))
  }

  /** The pool for calls of this URL at this time: a changed file of CA certificates makes a new one. */
  agentFor(url: string): http.Agent {
    if (!url.startsWith('https:')) return this.#plain
    const { context } = this.#roots
    if (this.#encrypted?.context !== context) {
      // Connections of the former pool end when their calls end, or after KEEP_ALIVE_MS without one.
      const agent = new https.Agent({
        ...{ keepAlive: true, timeout: KEEP_ALIVE_MS, secureContext: context },
        // Else NODE_TLS_REJECT_UNAUTHORIZED decides.
        rejectUnauthorized: true,
      })
      this.#encrypted = { agent, context }
    }
    return this.#encrypted.agent
  }

  /** The error of a call of this URL, or a BridgeTlsError that says what to check. */
  explain(error: unknown, url: string): unknown {
    return explainTlsError(error, url, this.#urlSetting)
  }

  async #explained<T>(url: string, call: Promise<T>): Promise<T> {
    try {
      return await call
    } catch (error) {
      throw this.explain(error, url)
    }
  }
}
