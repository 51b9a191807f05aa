import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { freePort } from './ports.ts'
import { waitFor } from './waiting.ts'

export interface Sshd {
  port: number
  username: string
  /** The key that the server accepts for `username`. */
  privateKey: string
  /** The connection of a target for this server. */
  connection: { type: 'ssh'; host: string; port: number; username: string; private_key: string }
  /** A key that the server refuses. */
  strangersKey: string
  /** Restarts the server with a new host key. */
  /** Lets this key log in. */
  authorize(publicKey: string): void
  changeHostKey(): Promise<void>
  stop(): Promise<void>
}

const SSHD = '/usr/sbin/sshd'

function makeKey(file: string): string {
  fs.rmSync(file, { force: true })
  fs.rmSync(`${file}.pub`, { force: true })
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'slipway-test', '-f', file])
  return fs.readFileSync(file, 'utf8')
}

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    socket.once('data', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

interface SshdOptions {
  /** Further lines of sshd_config. */
  settings?: string[]
  /** The command of SFTP; null for none. */
  sftp?: string | null
  maxSessions?: number
}

/** Starts a real OpenSSH server on loopback for the current user, with new keys. */
export async function startSshd(options: SshdOptions = {}): Promise<Sshd> {
  const { settings = [], sftp = 'internal-sftp', maxSessions = 200 } = options
  if (!fs.existsSync(SSHD)) throw new Error('no sshd: run "make test-packages", or install openssh-server')
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-sshd-'))
  const port = await freePort()
  const hostKey = path.join(folder, 'host_key')
  makeKey(hostKey)
  const privateKey = makeKey(path.join(folder, 'client'))
  const strangersKey = makeKey(path.join(folder, 'stranger'))
  fs.copyFileSync(path.join(folder, 'client.pub'), path.join(folder, 'authorized_keys'))
  fs.chmodSync(path.join(folder, 'authorized_keys'), 0o600)
  // Privilege separation needs this folder. Usually a service manager creates it.
  if (process.getuid?.() === 0) fs.mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  const config = path.join(folder, 'sshd_config')
  fs.writeFileSync(
    config,
    [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${hostKey}`,
      `AuthorizedKeysFile ${folder}/authorized_keys`,
      `PidFile ${folder}/pid`,
      'PasswordAuthentication no',
      'PermitRootLogin yes',
      'StrictModes no',
      'UsePAM no',
      'MaxStartups 200',
      `MaxSessions ${maxSessions}`,
      ...(sftp === null ? [] : [`Subsystem sftp ${sftp}`]),
      // sshd uses the first line of each keyword, so these settings cannot change the lines above.
      ...settings,
      // Without SHLVL, bash would read the .bashrc of the user, as for a first shell over the network.
      'SetEnv SHLVL=1',
      '',
    ].join('\n'),
  )

  let child: ChildProcess
  const start = async () => {
    child = spawn(SSHD, ['-D', '-e', '-f', config], { stdio: 'ignore' })
    await waitFor(() => accepts(port), { what: 'sshd to answer' })
  }
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await gone
  }
  await start()
  const { username } = os.userInfo()
  return {
    port,
    username,
    privateKey,
    connection: { type: 'ssh', host: '127.0.0.1', port, username, private_key: privateKey },
    strangersKey,
    authorize(publicKey) {
      fs.appendFileSync(path.join(folder, 'authorized_keys'), `${publicKey}\n`)
    },
    async changeHostKey() {
      await stop()
      makeKey(hostKey)
      await start()
    },
    async stop() {
      await stop()
      fs.rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A new private key for SSH in PEM form. */
export const newPrivateKey = () =>
  String(generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }))
