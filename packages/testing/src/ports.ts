import net from 'node:net'

/** These ports are below the ephemeral ports, so no outgoing connection takes the port of a restarting service. */
const [FIRST_PORT, LAST_PORT] = [10_240, 32_767]

/** Each process starts at another port: a port that another process has chosen but not opened yet looks free. */
let nextPort = FIRST_PORT + ((process.pid * 97) % (LAST_PORT - FIRST_PORT))

/** Finds a free port on loopback. */
export async function freePort(): Promise<number> {
  for (;;) {
    nextPort = nextPort === LAST_PORT ? FIRST_PORT : nextPort + 1
    // Another call may move on during the wait.
    const port = nextPort
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
