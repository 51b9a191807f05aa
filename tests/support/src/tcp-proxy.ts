import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy in front of a server. Tests break connections at the proxy, because other tests share the server. */
export interface TcpProxy {
  url: string
  /** Drops every connection. */
  cut(): void
  /** Drops every connection with RST instead of FIN. */
  reset(): void
  /** Drops each current connection in the middle of its next bytes: one half arrives, the other does not. */
  truncate(): void
  /** Stops all traffic and keeps all sockets open, including new connections, until `resume`. */
  freeze(): void
  /** Resumes all traffic, including held-back bytes. */
  resume(): void
  /**
   * Makes all current connections half-open: closes the server side and keeps the client side open and silent. New connections
   * work. This happens after a lost machine, a failover or a dropped NAT entry.
   */
  strand(): void
  /** Like `strand`, but the server side stays open too: a firewall forgot the connections. */
  silence(): void
  /** Drops all connections and refuses new ones, until called with false. */
  refuse(refused: boolean): void
  /** Delivers all bytes so many milliseconds later, in both directions. */
  delay(milliseconds: number): void
  /** Called with bytes on their way to the server. */
  onSent(fn: (bytes: Buffer) => void): void
  close(): Promise<void>
}

const DEFAULT_PORTS: Record<string, number> = {
  'redis:': 6379,
  'postgres:': 5432,
  'postgresql:': 5432,
  'amqp:': 5672,
}

interface Pair {
  client: Socket
  server: Socket
  /** Whether the next bytes end the connection. */
  truncated: boolean
}

/** Delivers bytes in their order, each not before its time. */
class DelayLine {
  readonly #deliver: (bytes: Buffer) => void
  readonly #held: { at: number; bytes: Buffer }[] = []
  #timer: NodeJS.Timeout | null = null

  constructor(deliver: (bytes: Buffer) => void) {
    this.#deliver = deliver
  }

  push(bytes: Buffer, delayMs: number): void {
    if (delayMs === 0 && this.#held.length === 0) {
      this.#deliver(bytes)
      return
    }
    this.#held.push({ at: performance.now() + delayMs, bytes })
    this.#timer ??= setTimeout(() => this.#release(), delayMs)
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    for (const { bytes } of this.#held.splice(0)) this.#deliver(bytes)
  }

  #release(): void {
    this.#timer = null
    while (this.#held[0] !== undefined && this.#held[0].at <= performance.now() + 1) {
      this.#deliver((this.#held.shift() as { bytes: Buffer }).bytes)
    }
    const next = this.#held[0]
    if (next !== undefined) this.#timer = setTimeout(() => this.#release(), Math.max(1, next.at - performance.now()))
  }
}

export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const upstream = new URL(target)
  const port = Number(upstream.port || DEFAULT_PORTS[upstream.protocol])
  const pairs = new Set<Pair>()
  const stranded = new Set<Socket>()
  let frozen = false
  let refused = false
  let delayMs = 0
  let sent: (bytes: Buffer) => void = () => {}

  const listener = createServer((client) => {
    if (refused) return client.destroy()
    const server = connect({ host: upstream.hostname, port })
    const pair = { client, server, truncated: false }
    pairs.add(pair)
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      const line = new DelayLine((bytes) => {
        if (to.destroyed) return
        const isTaken = to.write(bytes)
        if (!isTaken) from.pause()
      })
      to.on('drain', () => {
        if (!frozen && pairs.has(pair)) from.resume()
      })
      from.on('data', (bytes) => {
        if (from === client) sent(bytes)
        if (!pair.truncated) return line.push(bytes, delayMs)
        line.flush()
        to.write(bytes.subarray(0, Math.floor(bytes.length / 2)))
        from.destroy()
      })
      from.on('error', () => {})
      from.on('close', () => {
        stranded.delete(from)
        if (!pairs.delete(pair)) return
        // The other side still receives what came before the end.
        line.flush()
        to.destroySoon()
      })
      if (frozen) from.pause()
    }
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const dropAll = (drop: (socket: Socket) => void) => {
    for (const pair of pairs) {
      pairs.delete(pair)
      drop(pair.client)
      drop(pair.server)
    }
    for (const socket of stranded) socket.destroy()
  }
  const cut = () => dropAll((socket) => socket.destroy())
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((listener.address() as AddressInfo).port)
  return {
    url: url.href,
    cut,
    reset() {
      // A socket that is still connecting has nothing to reset.
      dropAll((socket) => (socket.connecting ? socket.destroy() : socket.resetAndDestroy()))
    },
    truncate() {
      for (const pair of pairs) pair.truncated = true
    },
    freeze() {
      frozen = true
      for (const { client, server } of pairs) {
        client.pause()
        server.pause()
      }
    },
    resume() {
      frozen = false
      for (const { client, server } of pairs) {
        client.resume()
        server.resume()
      }
    },
    strand() {
      for (const pair of pairs) {
        pairs.delete(pair)
        stranded.add(pair.client)
        pair.client.pause()
        pair.server.destroy()
      }
    },
    silence() {
      for (const pair of pairs) {
        pairs.delete(pair)
        for (const socket of [pair.client, pair.server]) {
          stranded.add(socket)
          socket.pause()
        }
      }
    },
    refuse(value) {
      refused = value
      if (value) cut()
    },
    delay(milliseconds) {
      delayMs = milliseconds
    },
    onSent(fn) {
      sent = fn
    },
    close() {
      cut()
      return new Promise((resolve) => listener.close(() => resolve()))
    },
  }
}
