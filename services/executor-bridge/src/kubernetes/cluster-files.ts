import { readFile } from 'node:fs/promises'
import http from 'node:http'
import https from 'node:https'

/** The key set of the cluster cannot be read, so no token can be verified. */
export class KeysUnavailable extends Error {
  override name = 'KeysUnavailable'
}

export interface ClusterFiles {
  /** File with the CA certificates of the API server. The default is the certificates of the system. */
  caFile?: string | undefined
  /** File with the token by which the API server knows the bridge. Some clusters require a token for their keys. */
  tokenFile?: string | undefined
}

const MAX_BYTES = 1024 * 1024
const TIMEOUT_MS = 5_000

/**
 * Reads JSON from the API server. Both files are read for each call, because Kubernetes renews them.
 * @throws KeysUnavailable that names the address
 */
export async function readJson(url: URL, { caFile, tokenFile }: ClusterFiles): Promise<unknown> {
  try {
    const ca = caFile === undefined ? undefined : await readFile(caFile)
    const token = tokenFile === undefined ? undefined : (await readFile(tokenFile, 'utf8')).trim()
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    return JSON.parse(await get(url, { ca, headers: { accept: 'application/json', ...authorization } }))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new KeysUnavailable(`${url.origin}${url.pathname} cannot be read: ${reason}`, { cause })
  }
}

/** `fetch` accepts no CA certificates. Redirects are not followed, because they could send the token to another server. */
function get(url: URL, options: { ca: Buffer | undefined; headers: Record<string, string> }): Promise<string> {
  const { request } = url.protocol === 'https:' ? https : http
  return new Promise((resolve, reject) => {
    const { ca, headers } = options
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const outgoing = request(url, { headers, agent: false, signal, ...(ca === undefined ? {} : { ca }) })
    outgoing.on('error', (error) => reject(signal.aborted ? new Error(`no answer within ${TIMEOUT_MS} ms`) : error))
    outgoing.on('response', (response) => {
      const pieces: Buffer[] = []
      let size = 0
      response.on('error', reject)
      response.on('data', (piece: Buffer) => {
        pieces.push(piece)
        size += piece.length
        if (size > MAX_BYTES) outgoing.destroy(new Error(`the answer is longer than ${MAX_BYTES} bytes`))
      })
      response.on('end', () => {
        if (response.statusCode === 200) resolve(Buffer.concat(pieces).toString('utf8'))
        else reject(new Error(`the answer has status ${response.statusCode}`))
      })
    })
    outgoing.end()
  })
}
