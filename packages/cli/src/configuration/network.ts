import fs from 'node:fs'
import { rootCertificates } from 'node:tls'
import { UsageError } from '../exit-code.ts'
import type { Io } from '../io.ts'

const PROXIES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY']

/**
 * Returns a `fetch` that uses the proxy of HTTPS_PROXY and HTTP_PROXY, except for the hosts of NO_PROXY, and trusts the authorities
 * of a file besides the usual ones. The `fetch` of Node 20 does neither. Returns undefined if neither is needed.
 * @throws UsageError if the file has no certificate, or a proxy is no address
 */
export async function createFetch(env: Io['env'], caFile: string | undefined): Promise<typeof fetch | undefined> {
  const proxy = PROXIES.find((name) => env[name])
  if (proxy === undefined && caFile === undefined) return undefined
  const tls = caFile === undefined ? {} : { ca: [...usualAuthorities(env), readAuthorities(caFile)] }
  const { default: undici } = await import('undici')
  try {
    const dispatcher = new undici.EnvHttpProxyAgent({
      // Without a value, the agent reads the environment of the process.
      httpProxy: env['http_proxy'] ?? env['HTTP_PROXY'] ?? '',
      httpsProxy: env['https_proxy'] ?? env['HTTPS_PROXY'] ?? '',
      noProxy: env['no_proxy'] ?? env['NO_PROXY'] ?? '',
      connect: tls,
      requestTls: tls,
      proxyTls: tls,
    })
    const fetchThrough = (url: URL, init: object) => undici.fetch(url, { ...init, dispatcher })
    return fetchThrough as typeof fetch
  } catch (error) {
    throw new UsageError(`${proxy} is not the address of a proxy: ${error instanceof Error ? error.message : error}`)
  }
}

/** Returns which proxy calls to this address use, or null. Leaves out the credentials of the proxy. */
export function describeProxy(env: Io['env'], url: string): string | null {
  const names = url.startsWith('https:') ? PROXIES : PROXIES.slice(2)
  const name = names.find((one) => env[one])
  const address = name === undefined ? undefined : env[name]
  if (name === undefined || address === undefined || !URL.canParse(address)) return null
  const { protocol, host } = new URL(address)
  const exception = (env['NO_PROXY'] ?? env['no_proxy']) ? ', unless NO_PROXY has its host' : ''
  return `calls go through the proxy ${protocol}//${host} of ${name}${exception}`
}

/** A list of authorities replaces those of Node, so it begins with them. */
function usualAuthorities(env: Io['env']): string[] {
  const extra = env['NODE_EXTRA_CA_CERTS']
  return [...rootCertificates, ...(extra ? [readAuthorities(extra)] : [])]
}

function readAuthorities(file: string): string {
  try {
    const text = fs.readFileSync(file, 'utf8')
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  } catch (error) {
    throw new UsageError(`the certificates of authorities cannot be read: ${(error as Error).message}`)
  }
  throw new UsageError(`${file} holds no certificate: it needs authorities in PEM form`)
}
