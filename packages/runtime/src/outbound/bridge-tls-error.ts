import type { PeerCertificate } from 'node:tls'
import { types } from 'node:util'

export const CA_FILE = 'SLIPWAY_BRIDGE_CA_FILE'

/** A TLS problem with the bridge. The message says what to check. */
export class BridgeTlsError extends Error {
  override name = 'BridgeTlsError'
  readonly code: string

  constructor(message: string, code: string, cause: unknown) {
    super(`${message} (${code})`, { cause })
    this.code = code
  }
}

interface BridgeUrl {
  /** `host:port` of the bridge. */
  host: string
  /** The setting with the URL, for example SLIPWAY_BRIDGE_URL. */
  urlSetting: string
}

const unknownCa = ({ host }: BridgeUrl) =>
  `${host} shows a certificate of a CA that is not trusted: put the CA's certificate into the file that ${CA_FILE} names`
const renewal = 'renew the file that SLIPWAY_BRIDGE_TLS_CERT_FILE names on the bridge'

const MESSAGES: Record<string, (url: BridgeUrl, error: Error) => string> = {
  CERT_SIGNATURE_FAILURE: unknownCa,
  CERT_UNTRUSTED: unknownCa,
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownCa,
  INVALID_CA: unknownCa,
  SELF_SIGNED_CERT_IN_CHAIN: unknownCa,
  UNABLE_TO_GET_ISSUER_CERT: unknownCa,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownCa,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownCa,
  CERT_HAS_EXPIRED: ({ host }) =>
    `${host} shows an expired certificate: ${renewal}, or correct the clock of this machine`,
  CERT_NOT_YET_VALID: ({ host }) =>
    `${host} shows a certificate that is not valid yet: correct the clock of this machine, or ${renewal}`,
  ERR_TLS_CERT_ALTNAME_INVALID: ({ host, urlSetting }, error) =>
    `${host} shows a certificate for other names (${namesOf(error)}): use one of them in ${urlSetting}, or ${renewal}`,
  EPROTO: ({ host, urlSetting }) =>
    `${host} does not speak TLS 1.2 or newer: check host and port in ${urlSetting}, and that the bridge serves HTTPS`,
}

function namesOf(error: Error & { cert?: Partial<PeerCertificate> }): string {
  return error.cert?.subjectaltname ?? 'none'
}

/** Returns a BridgeTlsError for a TLS problem, else the error itself. */
export function explainTlsError(error: unknown, url: string, urlSetting: string): unknown {
  if (!types.isNativeError(error) || !url.startsWith('https:')) return error
  const { code = '' } = error as NodeJS.ErrnoException
  const message = MESSAGES[code]?.({ host: new URL(url).host, urlSetting }, error)
  return message === undefined ? error : new BridgeTlsError(message, code, error)
}
