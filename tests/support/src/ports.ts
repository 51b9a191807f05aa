import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'

/** These ports are below the ephemeral ports, so no outgoing connection takes the port of a restarting service. */
const [FIRST_PORT, LAST_PORT] = [10_240, 32_767]

/** A file for each reserved port: a port that another process has chosen but not opened yet, or whose service restarts, looks free. */
const RESERVED = path.join(os.tmpdir(), 'slipway-test-ports')

/** Each process starts at another port, so that processes seldom try the same one. */
let nextPort = FIRST_PORT + ((process.pid * 97) % (LAST_PORT - FIRST_PORT))

/** Finds a free port on loopback. No other test process on this machine gets it while this one lives. */
export async function freePort(): Promise<number> {
  for (;;) {
    nextPort = nextPort === LAST_PORT ? FIRST_PORT : nextPort + 1
    // Another call may move on during the wait.
    const port = nextPort
    if (reserve(port) && (await isFree(port))) return port
  }
}

/** A file is empty for a moment after its creation. */
const isAlive = (owner: string) => owner === '' || fs.existsSync(`/proc/${owner}`)

function reserve(port: number): boolean {
  const file = path.join(RESERVED, String(port))
  fs.mkdirSync(RESERVED, { recursive: true })
  try {
    fs.writeFileSync(file, String(process.pid), { flag: 'wx' })
    return true
  } catch {
    if (!isAlive(readOwner(file))) fs.rmSync(file, { force: true })
    // The next call may reserve what a dead process has left.
    return false
  }
}

function readOwner(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
