import net from 'node:net'

/** Below those that the system gives to outgoing connections: none takes the port of a service that is restarting. */
const [FIRST_PORT, LAST_PORT] = [10_240, 32_767]

/** From a place of this process's own: what another one chose, and has not taken yet, looks free. */
let nextPort = FIRST_PORT + ((process.pid * 97) % (LAST_PORT - FIRST_PORT))

/** A port on loopback that nobody listens on. */
export async function freePort(): Promise<number> {
  for (;;) {
    nextPort = nextPort === LAST_PORT ? FIRST_PORT : nextPort + 1
    if (await isFree(nextPort)) return nextPort
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
