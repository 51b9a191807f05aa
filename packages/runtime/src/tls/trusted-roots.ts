import { existsSync, readFileSync, statSync } from 'node:fs'
import { createSecureContext, type SecureContext } from 'node:tls'
import { ConfigurationError } from '../config.ts'
import type { Logger } from '../logger.ts'
import type { FileSetting } from './key-pair.ts'
import { pemCertificates } from './pem.ts'

/** The interval between two checks of the file. */
const LOOK_MS = 1_000

/** Where operating systems store their CA certificates. Node has its own list instead. */
const SYSTEM_FILES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
]

/**
 * The CA certificates that a client trusts: those of a configured file, else those of the system, else the list of
 * Node. A changed file applies to all connections made after the change; a broken one is reported and ignored.
 */
export class TrustedRoots {
  readonly #file: string | undefined
  readonly #logger: Logger
  #context: SecureContext
  #version: string
  #lookedAt = performance.now()

  /** @throws ConfigurationError when the configured file cannot be used */
  constructor(configured: FileSetting | undefined, logger: Logger) {
    this.#file = configured?.file ?? SYSTEM_FILES.find((file) => existsSync(file))
    this.#logger = logger
    try {
      this.#version = versionOf(this.#file)
      this.#context = contextOf(this.#file)
    } catch (error) {
      const problem = `names ${this.#file}, which holds no usable CA certificates: ${(error as Error).message}`
      if (configured) throw new ConfigurationError([{ variable: configured.variable, problem }])
      logger.warn(`the CA certificates of the system cannot be used, those of Node are: ${this.#file}`, { error })
      this.#file = undefined
      this.#version = versionOf(undefined)
      this.#context = contextOf(undefined)
    }
  }

  /** For new connections: another object after the file has changed. */
  get context(): SecureContext {
    if (performance.now() - this.#lookedAt >= LOOK_MS) this.#look()
    return this.#context
  }

  #look(): void {
    this.#lookedAt = performance.now()
    const version = versionOf(this.#file)
    if (version === this.#version) return
    this.#version = version
    try {
      this.#context = contextOf(this.#file)
      this.#logger.info('new connections are verified with the changed CA certificates', { file: this.#file })
    } catch (error) {
      this.#logger.error('the changed CA certificates cannot be used, the former ones stay in use', {
        ...{ file: this.#file, error },
      })
    }
  }
}

/** Another text after each change of the file; Kubernetes exchanges the file behind a symbolic link. */
function versionOf(file: string | undefined): string {
  const status = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false })
  return status ? `${status.ino} ${status.size} ${status.mtimeMs} ${status.ctimeMs}` : 'none'
}

function contextOf(file: string | undefined): SecureContext {
  const minVersion = 'TLSv1.2'
  if (file === undefined) return createSecureContext({ minVersion })
  const ca = readFileSync(file, 'utf8')
  if (pemCertificates(ca).length === 0) throw new Error('it holds no certificate in PEM')
  return createSecureContext({ ca, minVersion })
}
