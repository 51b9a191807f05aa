import type { RequestListener, ServerOptions } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { Logger } from '@slipway/runtime'
import { type KeyPair, type KeyPairFiles, readKeyPair, watchKeyPair } from './key-pair.ts'

export interface TlsOptions {
  files: KeyPairFiles
  logger: Logger
  /** The time between two looks at the files, by default a second. */
  checkMs?: number
}

const HANDSHAKE_MS = 10_000
/** The time between two log lines about failed handshakes, so that a port scan does not fill the log. */
const REPORT_EVERY_MS = 10_000

/**
 * Creates an HTTPS server. New connections use changed certificate files. `release` ends the watch of the files.
 * @throws ConfigurationError if the certificate or its key cannot be used
 */
export function createTlsServer(
  app: RequestListener,
  options: ServerOptions,
  { files, logger, checkMs }: TlsOptions,
): { server: Server; release(): void } {
  const current = readKeyPair(files)
  if (current.validUntil.getTime() < Date.now()) {
    const { variable, file } = files.certificate
    logger.error(`the certificate has expired and clients refuse it: renew ${file}, named by ${variable}`)
  }
  const server = createServer({ ...options, handshakeTimeout: HANDSHAKE_MS, ...contextOf(current) }, app)
  reportFailedHandshakes(server, logger, (code) =>
    code === 'ERR_SSL_HTTP_REQUEST'
      ? 'a client sent plain HTTP: its URL must begin with https://'
      : 'a TLS handshake failed',
  )
  const onChange = (pair: KeyPair) => server.setSecureContext(contextOf(pair))
  return { server, release: watchKeyPair(files, { current, onChange, logger, checkMs }) }
}

const contextOf = ({ certificate, key }: KeyPair) => ({ cert: certificate, key, minVersion: 'TLSv1.2' as const })

/** Warns of clients that cannot connect. `messageOf` explains the code of the error. */
export function reportFailedHandshakes(
  server: Server,
  logger: Logger,
  messageOf: (code: string | undefined) => string,
): void {
  let failed = 0
  let reportedAt = Number.NEGATIVE_INFINITY
  server.on('tlsClientError', (error: NodeJS.ErrnoException, { remoteAddress }) => {
    failed += 1
    if (performance.now() - reportedAt < REPORT_EVERY_MS) return
    logger.warn(messageOf(error.code), { address: remoteAddress, code: error.code, since_last: failed })
    reportedAt = performance.now()
    failed = 0
  })
}
