import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'

const USAGE = `Usage: node dist/certificates/command.js [--service-account FOLDER] NAME...

Makes a private CA and the certificate of the bridge, or renews the certificate, in two Secrets of this namespace:
slipway-bridge-ca (ca.key, ca.crt) and slipway-bridge-tls (tls.key, tls.crt, ca.crt). Both have to be there already,
and may be empty. Each NAME is a host name or an IP address in the URLs of the bridge.

  --service-account   where the token and the namespace are; that of Kubernetes unless given
NODE_EXTRA_CA_CERTS has to name the CA certificate of the API server.
`

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'
/** Every image of Slipway contains this script. Its source is deploy/certificates.sh. */
const SCRIPT = 'slipway-certificates'

interface Contents {
  name: string
  /** The file name in the script for each key of the Secret. */
  files: Record<string, string>
}
const AUTHORITY: Contents = {
  name: 'slipway-bridge-ca',
  files: { 'ca.crt': 'authority/ca.crt', 'ca.key': 'authority/ca.key' },
}
const BRIDGE: Contents = {
  name: 'slipway-bridge-tls',
  files: { 'tls.crt': 'tls/tls.crt', 'tls.key': 'tls/tls.key', 'ca.crt': 'trust/ca.crt' },
}

interface Secret {
  metadata: { resourceVersion: string }
  data?: Record<string, string>
}

/** Reads and changes the Secrets in the namespace of the service account. */
function secretsOf(account: string) {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env
  if (host === undefined) throw new Error('KUBERNETES_SERVICE_HOST is missing: run it in a pod')
  const namespace = fs.readFileSync(path.join(account, 'namespace'), 'utf8').trim()
  const token = fs.readFileSync(path.join(account, 'token'), 'utf8').trim()
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port ?? 443}`

  const call = async (name: string, request: { method?: string; body?: string }): Promise<Secret> => {
    const response = await fetch(`${server}/api/v1/namespaces/${namespace}/secrets/${name}`, {
      ...request,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/merge-patch+json' },
      redirect: 'error',
      signal: AbortSignal.timeout(30_000),
    })
    if (!response.ok) throw new Error(`the API server answers ${response.status} for the Secret ${name}`)
    return (await response.json()) as Secret
  }
  return {
    read: (name: string) => call(name, {}),
    /** Fails if another process has changed the Secret since it was read. */
    change: (name: string, { metadata }: Secret, data: Record<string, string>) =>
      call(name, {
        method: 'PATCH',
        body: JSON.stringify({ metadata: { resourceVersion: metadata.resourceVersion }, data }),
      }),
  }
}

function write(folder: string, { files }: Contents, { data = {} }: Secret): void {
  for (const [key, file] of Object.entries(files)) {
    const value = data[key]
    if (value === undefined) continue
    fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true, mode: 0o700 })
    fs.writeFileSync(path.join(folder, file), Buffer.from(value, 'base64'), { mode: 0o600 })
  }
}

function read(folder: string, { files }: Contents): Record<string, string> {
  const values = Object.entries(files).map(([key, file]) => [key, fs.readFileSync(path.join(folder, file), 'base64')])
  return Object.fromEntries(values)
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'service-account': { type: 'string', default: ACCOUNT }, help: { type: 'boolean' } },
  })
  if (values.help === true || positionals.length === 0) return void process.stdout.write(USAGE)
  const secrets = secretsOf(values['service-account'])
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'certificates-'))
  try {
    const before = { authority: await secrets.read(AUTHORITY.name), bridge: await secrets.read(BRIDGE.name) }
    write(folder, AUTHORITY, before.authority)
    write(folder, BRIDGE, before.bridge)
    // A setting with several names is one argument.
    const names = positionals.flatMap((text) => text.trim().split(/\s+/))
    execFileSync(SCRIPT, [folder, ...names], { stdio: 'inherit' })
    // The CA first: a certificate of a CA that was not stored could not be renewed.
    await secrets.change(AUTHORITY.name, before.authority, read(folder, AUTHORITY))
    await secrets.change(BRIDGE.name, before.bridge, read(folder, BRIDGE))
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

main().catch((error: Error) => {
  process.stderr.write(`certificates: ${error.message}\n`)
  process.exitCode = 1
})
