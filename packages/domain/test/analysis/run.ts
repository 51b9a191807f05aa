import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import type { Failure } from '../../src/analysis/index.ts'
import type { RealExample } from './real.ts'

const NOBODY = 65_534
const TAIL = 2_000

/** The servers that the examples call. */
export interface Servers {
  env: Record<string, string>
  close(): void
}

export async function startServers(): Promise<Servers> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-analysis-'))
  chmodSync(folder, 0o755)
  const plain = http.createServer((request, response) => {
    if (request.url === '/cut') return void request.socket.resetAndDestroy()
    const status = /^\/(\d{3})\//.exec(request.url ?? '')?.[1]
    if (status !== undefined) response.writeHead(Number(status), { 'content-type': 'application/json' }).end('{}')
  })
  await listening(plain)
  const { port } = plain.address() as AddressInfo
  const env: Record<string, string> = { SERVER: `http://127.0.0.1:${port}`, TAKEN: String(port) }
  const secure = has('openssl') ? await startSecure(folder, env) : null
  return {
    env,
    close() {
      for (const server of [plain, secure]) {
        server?.closeAllConnections()
        server?.close()
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function startSecure(folder: string, env: Record<string, string>): Promise<https.Server> {
  const [key, certificate] = [path.join(folder, 'key'), path.join(folder, 'certificate')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const files = ['-keyout', key, '-out', certificate]
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...files, ...subject], {
    stdio: 'ignore',
  })
  const server = https.createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (_, response) => {
    response.end('hello')
  })
  await listening(server)
  env['SECURE'] = `https://localhost:${(server.address() as AddressInfo).port}`
  env['CERTIFICATE'] = certificate
  return server
}

const listening = (server: http.Server | https.Server) =>
  new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

export function has(program: string): boolean {
  try {
    execFileSync('sh', ['-c', 'command -v "$1"', 'sh', program], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

export function canRun({ needs = [], shell, unprivileged }: RealExample): boolean {
  const nobody = unprivileged === undefined || process.getuid?.() === 0
  return nobody && [...needs, ...(shell ? [shell] : [])].every(has)
}

/** Runs an example like an instance and returns its failure. */
export async function run({ script, shell = 'sh', ...options }: RealExample, env: Record<string, string>) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-example-'))
  if (options.unprivileged) chmodSync(folder, 0o777)
  try {
    return await end(
      spawn(shell, ['-c', script], {
        cwd: folder,
        env: {
          PATH: process.env['PATH'] ?? '',
          HOME: folder,
          LC_ALL: 'C',
          GIT_TERMINAL_PROMPT: '0',
          // Without this setting, the pip of some distributions refuses before it reaches the failure of the example.
          PIP_BREAK_SYSTEM_PACKAGES: '1',
          ...env,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: 120_000,
        ...(options.unprivileged && { uid: NOBODY, gid: NOBODY }),
      }),
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function end(child: ReturnType<typeof spawn>): Promise<Failure> {
  return new Promise((resolve, reject) => {
    const output = { stdout: '', stderr: '' }
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream]?.setEncoding('utf8').on('data', (text: string) => {
        output[stream] = (output[stream] + text).slice(-TAIL)
      })
    }
    child.on('error', reject)
    child.on('close', (exit_code, signal) => {
      const error_message = signal ? `killed by ${signal}` : `exit code ${exit_code}`
      const ended = { exit_code, error_message, reason: signal ? ('signal' as const) : null, subject: signal }
      resolve({ ...ended, stdout_tail: output.stdout, stderr_tail: output.stderr })
    })
  })
}
