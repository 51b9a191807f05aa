import fs from 'node:fs'
import { rootCertificates } from 'node:tls'
import { UsageError } from '../exit-code.ts'

const PROXIES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY']

/**
 * Makes `fetch` use the proxy of HTTPS_PROXY and HTTP_PROXY, except for the hosts of NO_PROXY, and trust the authorities of a file
 * besides the usual ones. Node 20 does neither by itself.
 * @throws UsageError if the file has no certificate, or a proxy is no address
 */
export async function prepareNetwork(caFile: string | undefined): Promise<void> {
  const proxy = PROXIES.find((name) => process.env[name])
  if (proxy === undefined && caFile === undefined) return
  const tls = caFile === undefined ? {} : { ca: [...usualAuthorities(), readAuthorities(caFile)] }
  const { default: undici } = await import('undici')
  try {
    undici.setGlobalDispatcher(new undici.EnvHttpProxyAgent({ connect: tls, requestTls: tls, proxyTls: tls }))
  } catch (error) {
    throw new UsageError(`${proxy} is not the address of a proxy: ${error instanceof Error ? error.message : error}`)
  }
  undici.install()
}

/** Returns which proxy calls to this address use, or null. Leaves out the credentials of the proxy. */
export function describeProxy(url: string): string | null {
  const names = url.startsWith('https:') ? PROXIES : PROXIES.slice(2)
  const name = names.find((one) => process.env[one])
  const address = name === undefined ? undefined : process.env[name]
  if (name === undefined || address === undefined || !URL.canParse(address)) return null
  const { protocol, host } = new URL(address)
  const exception = (process.env['NO_PROXY'] ?? process.env['no_proxy']) ? ', unless NO_PROXY has its host' : ''
  return `calls go through the proxy ${protocol}//${host} of ${name}${exception}`
}

/** A list of authorities replaces those of Node, so it begins with them. */
function usualAuthorities(): string[] {
  const extra = process.env['NODE_EXTRA_CA_CERTS']
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
