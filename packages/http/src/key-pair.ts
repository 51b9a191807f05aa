import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { CHECK_FILES_MS, ConfigurationError, type FileSetting, type Logger, pemCertificates } from '@slipway/runtime'

export interface KeyPairFiles {
  /** The server's certificate in PEM, followed by intermediate certificates. */
  certificate: FileSetting
  /** The private key of the certificate in PEM, without a passphrase. */
  key: FileSetting
}

interface Contents {
  certificate: string
  key: string
}

export interface KeyPair extends Contents {
  /** When the server's certificate expires. */
  validUntil: Date
}

/**
 * Reads a certificate and its private key.
 * @throws ConfigurationError if a file cannot be read or is not valid PEM, or if the key does not match the certificate
 */
export function readKeyPair(files: KeyPairFiles): KeyPair {
  return parseKeyPair(files, readContents(files))
}

const wrong = ({ variable, file }: FileSetting, text: string) =>
  new ConfigurationError([{ variable, problem: `names ${file}, ${text}` }])

function readContents({ certificate, key }: KeyPairFiles): Contents {
  const read = (setting: FileSetting) => {
    try {
      return readFileSync(setting.file, 'utf8')
    } catch (error) {
      throw wrong(setting, `which cannot be read (${(error as NodeJS.ErrnoException).code})`)
    }
  }
  return { certificate: read(certificate), key: read(key) }
}

function parseKeyPair({ certificate, key }: KeyPairFiles, contents: Contents): KeyPair {
  const leaf = leafOf(contents.certificate)
  if (!leaf) throw wrong(certificate, 'which does not hold certificates in PEM')
  const privateKey = privateKeyOf(contents.key)
  if (!privateKey) throw wrong(key, 'which does not hold a private key in PEM without a passphrase')
  if (!leaf.checkPrivateKey(privateKey)) {
    throw wrong(key, `which is not the private key of the certificate that ${certificate.variable} names`)
  }
  try {
    createSecureContext({ cert: contents.certificate, key: contents.key })
  } catch (error) {
    throw wrong(certificate, `which cannot be used: ${(error as Error).message}`)
  }
  return { ...contents, validUntil: new Date(leaf.validTo) }
}

/** Null if a certificate of the chain is damaged, because clients would refuse the chain. */
function leafOf(text: string): X509Certificate | null {
  try {
    return pemCertificates(text)[0] ?? null
  } catch {
    return null
  }
}

function privateKeyOf(text: string): KeyObject | null {
  try {
    return createPrivateKey(text)
  } catch {
    return null
  }
}

export interface WatchOptions {
  /** The pair in use. */
  current: KeyPair
  onChange(pair: KeyPair): void
  logger: Logger
  /** The time between two readings, by default a second. */
  checkMs?: number | undefined
}

/**
 * Reads the files each second and reports a new pair. A change counts after two equal readings, because a file may be half
 * written, and Kubernetes may replace the mounted folder between two reads. Returns a function that ends the watch.
 */
export function watchKeyPair(
  files: KeyPairFiles,
  { current, onChange, logger, checkMs = CHECK_FILES_MS }: WatchOptions,
): () => void {
  let used = current
  let handled = textOf(current)
  let seen = handled
  const check = () => {
    const contents = contentsOrError(files)
    const text = textOf(contents)
    const isSettled = text === seen
    seen = text
    if (!isSettled || text === handled) return
    handled = text
    if (text === textOf(used)) return
    try {
      if (contents instanceof Error) throw contents
      used = parseKeyPair(files, contents)
      onChange(used)
      logger.info('new connections get the new certificate', { valid_until: used.validUntil.toISOString() })
    } catch (error) {
      logger.error('the new certificate or key cannot be used: the old pair stays in use', { error })
    }
  }
  const timer = setInterval(check, checkMs)
  timer.unref()
  return () => clearInterval(timer)
}

function contentsOrError(files: KeyPairFiles): Contents | Error {
  try {
    return readContents(files)
  } catch (error) {
    return error as Error
  }
}

const textOf = (contents: Contents | Error): string =>
  contents instanceof Error ? contents.message : `${contents.certificate}\0${contents.key}`
