import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy in front of a server. Tests break connections at the proxy, because other tests share the server. */
export interface TcpProxy {
  url: string
  /** Drops every connection. */
  cut(): void
  /** Stops all traffic and keeps all sockets open, including new connections, until `resume`. */
  freeze(): void
  /** Resumes all traffic, including held-back bytes. */
  resume(): void
  /**
   * Makes all current connections half-open: closes the server side and keeps the client side open and silent. New connections
   * work. This happens after a lost machine, a failover or a dropped NAT entry.
   */
  strand(): void
  /** Drops all connections and refuses new ones, until called with false. */
  refuse(refused: boolean): void
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
}

export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const upstream = new URL(target)
  const port = Number(upstream.port || DEFAULT_PORTS[upstream.protocol])
  const pairs = new Set<Pair>()
  const stranded = new Set<Socket>()
  let frozen = false
  let refused = false
  let sent: (bytes: Buffer) => void = () => {}

  const listener = createServer((client) => {
    if (refused) return client.destroy()
    const server = connect({ host: upstream.hostname, port })
    const pair = { client, server }
    pairs.add(pair)
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on('data', (bytes) => {
        if (from === client) sent(bytes)
        to.write(bytes)
      })
      from.on('error', () => {})
      from.on('close', () => {
        stranded.delete(from)
        if (pairs.delete(pair)) to.destroy()
      })
      if (frozen) from.pause()
    }
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const { client, server } of pairs) {
      client.destroy()
      server.destroy()
    }
    for (const socket of stranded) socket.destroy()
  }
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((listener.address() as AddressInfo).port)
  return {
    url: url.href,
    cut,
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
    refuse(value) {
      refused = value
      if (value) cut()
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
