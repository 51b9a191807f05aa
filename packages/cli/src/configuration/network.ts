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
