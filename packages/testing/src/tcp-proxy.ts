import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy before a server, to break connections without touching the server that others use. */
export interface TcpProxy {
  url: string
  /** Drops every connection. */
  cut(): void
  /** Passes nothing in either direction and keeps every socket open, new connections included, until resumed. */
  freeze(): void
  /** Passes everything again, with what was held back. */
  resume(): void
  /**
   * Leaves every connection of now half-open: drops the server's side, and keeps the client's side open and silent for good.
   * New connections work. So it is after a lost machine, a failover or a dropped NAT entry.
   */
  strand(): void
  /** Refuses new connections, and drops those there are, until let in again. */
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
