// Real OpenSSH servers on 200 loopback addresses, 127.0.1.1 to 127.0.1.200, with one host key and one key that lets in.
import { execFileSync, spawn } from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** No sshd listens on more addresses. */
const ADDRESSES_EACH = 16
const PORT = 22_022

export async function startFleet(count) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-fleet-'))
  const key = (name) => {
    const file = path.join(folder, name)
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'slipway-bench', '-f', file])
    return file
  }
  const [hostKey, clientKey] = [key('host'), key('client')]
  fs.copyFileSync(`${clientKey}.pub`, path.join(folder, 'authorized_keys'))
  fs.chmodSync(path.join(folder, 'authorized_keys'), 0o600)
  if (process.getuid() === 0) fs.mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  const hosts = Array.from({ length: count }, (_, n) => `127.0.1.${n + 1}`)
  const servers = []
  for (let from = 0; from < count; from += ADDRESSES_EACH) {
    const config = path.join(folder, `sshd-${from}`)
    const listen = hosts.slice(from, from + ADDRESSES_EACH).map((host) => `ListenAddress ${host}`)
    const settings = [
      `Port ${PORT}`,
      ...listen,
      `HostKey ${hostKey}`,
      `AuthorizedKeysFile ${folder}/authorized_keys`,
      `PidFile ${folder}/pid-${from}`,
      'PasswordAuthentication no',
      'PermitRootLogin yes',
      'StrictModes no',
      'UsePAM no',
      'UseDNS no',
      'MaxStartups 1000',
      'Subsystem sftp internal-sftp',
      // Or bash reads the user's own .bashrc for each command, which takes longer than all that is measured.
      'SetEnv SHLVL=1',
    ]
    fs.writeFileSync(config, `${settings.join('\n')}\n`)
    servers.push(spawn('/usr/sbin/sshd', ['-D', '-e', '-f', config], { stdio: 'ignore' }))
  }
  for (const host of hosts) while (!(await accepts(host))) await sleep(50)
  return {
    folder,
    hosts,
    port: PORT,
    user: os.userInfo().username,
    clientKey,
    privateKey: fs.readFileSync(clientKey, 'utf8'),
    stop() {
      for (const server of servers) server.kill('SIGTERM')
      fs.rmSync(folder, { recursive: true, force: true })
    },
  }
}

const accepts = (host) =>
  new Promise((resolve) => {
    const socket = net.connect(PORT, host)
    socket.once('data', () => resolve(true)).once('error', () => resolve(false))
    socket.once('data', () => socket.destroy())
  })
