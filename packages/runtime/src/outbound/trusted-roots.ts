import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createSecureContext, type SecureContext } from 'node:tls'
import { ConfigurationError } from '../config.ts'
import type { Logger } from '../logger.ts'

/** The time between two looks at a file with certificates, in milliseconds. */
export const CHECK_FILES_MS = 1_000

/** A file, and the environment variable that names it. */
export interface FileSetting {
  variable: string
  file: string
}

/** Where operating systems store their CA certificates. Node has its own list instead. */
const SYSTEM_FILES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
]

/**
 * The CA certificates that a client trusts: from a configured file, else from the system, else from Node. A changed file applies
 * to new connections. A changed file that cannot be used is logged and ignored.
 */
export class TrustedRoots {
  readonly #file: string | undefined
  readonly #logger: Logger
  readonly #checkMs: number
  #context: SecureContext
  #version: string
  #checkedAt = performance.now()

  /**
   * `checkMs` is the shortest time between two looks at the file.
   * @throws ConfigurationError if the configured file cannot be used
   */
  constructor(configured: FileSetting | undefined, logger: Logger, checkMs = CHECK_FILES_MS) {
    this.#file = configured?.file ?? SYSTEM_FILES.find((file) => existsSync(file))
    this.#logger = logger
    this.#checkMs = checkMs
    try {
      this.#version = versionOf(this.#file)
      this.#context = contextOf(this.#file)
    } catch (error) {
      const problem = `names ${this.#file}, which holds no usable CA certificates: ${(error as Error).message}`
      if (configured) throw new ConfigurationError([{ variable: configured.variable, problem }])
      logger.warn(`the CA certificates of the system in ${this.#file} cannot be used: those of Node are used`, {
        error,
      })
      this.#file = undefined
      this.#version = versionOf(undefined)
      this.#context = contextOf(undefined)
    }
  }

  /** The context for new connections. A changed file leads to a new object. */
  get context(): SecureContext {
    if (performance.now() - this.#checkedAt >= this.#checkMs) this.#check()
    return this.#context
  }

  #check(): void {
    this.#checkedAt = performance.now()
    const version = versionOf(this.#file)
    if (version === this.#version) return
    this.#version = version
    try {
      this.#context = contextOf(this.#file)
      this.#logger.info('new connections are verified with the changed CA certificates', { file: this.#file })
    } catch (error) {
      this.#logger.error('the changed CA certificates cannot be used: the old ones stay in use', {
        file: this.#file,
        error,
      })
    }
  }
}

/** Identifies the version of the file. It also changes when Kubernetes replaces the target of a symbolic link. */
function versionOf(file: string | undefined): string {
  const status = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false })
  return status ? `${status.ino} ${status.size} ${status.mtimeMs} ${status.ctimeMs}` : 'none'
}

/**
 * The certificates of a PEM text, in order, without other blocks.
 * @throws Error if a certificate cannot be parsed
 */
export function pemCertificates(text: string): X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?(-----END CERTIFICATE-----|$)/g) ?? []
  return blocks.map((block) => new X509Certificate(block))
}

function contextOf(file: string | undefined): SecureContext {
  const minVersion = 'TLSv1.2'
  if (file === undefined) return createSecureContext({ minVersion })
  const ca = readFileSync(file, 'utf8')
  if (pemCertificates(ca).length === 0) throw new Error('the file has no certificate in PEM')
  return createSecureContext({ ca, minVersion })
}
