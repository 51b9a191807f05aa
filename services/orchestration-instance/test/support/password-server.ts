import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import ssh2, { type AuthContext, type Connection, type ServerChannel } from 'ssh2'

/** An ssh server with password login. For that, sshd would need a user of the system with a password. */
export class PasswordServer {
  readonly #server: ssh2.Server
  readonly #connections = new Set<Connection>()
  readonly #username: string
  readonly #password: string
  method: 'password' | 'keyboard-interactive' = 'password'

  constructor(username: string, password: string) {
    this.#username = username
    this.#password = password
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
      publicKeyEncoding: { type: 'pkcs1', format: 'pem' },
    })
    this.#server = new ssh2.Server({ hostKeys: [privateKey] }, (connection) => this.#serve(connection))
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  close(): Promise<void> {
    for (const connection of this.#connections) connection.end()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  #serve(connection: Connection): void {
    this.#connections.add(connection)
    connection.on('error', () => {})
    connection.on('close', () => this.#connections.delete(connection))
    connection.on('authentication', (context) => this.#authenticate(context))
    connection.on('session', (accept) => {
      accept().on('exec', (acceptExec, _reject, { command }) => execute(acceptExec(), command))
    })
  }

  #authenticate(context: AuthContext): void {
    const decide = (password: string | undefined) => {
      if (context.username === this.#username && password === this.#password) context.accept()
      else context.reject([this.method])
    }
    if (context.method !== this.method) context.reject([this.method])
    else if (context.method === 'password') decide(context.password)
    else if (context.method === 'keyboard-interactive') {
      context.prompt([{ prompt: 'Password: ', echo: false }], ([answer]) => decide(answer))
    }
  }
}

/** Runs a command. Unlike sshd, it makes no session for the command. */
function execute(channel: ServerChannel, command: string): void {
  const child = spawn('sh', ['-c', command], { stdio: 'pipe' })
  child.stdin.on('error', () => {})
  channel.pipe(child.stdin)
  child.stdout.pipe(channel, { end: false })
  child.stderr.pipe(channel.stderr, { end: false })
  child.on('close', (code, signal) => {
    if (code === null) channel.exit((signal ?? '').replace(/^SIG/, ''), false, '')
    else channel.exit(code)
    channel.end()
  })
}
