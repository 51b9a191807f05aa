import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy before RabbitMQ or Redis, to break connections without touching the server that others use. */
export interface TcpProxy {
  url: string
  /** Drops every connection. */
  cut(): void
  /** Holds all bytes back in both directions, as a network that swallows packets, until resumed. */
  freeze(): void
  resume(): void
  /** Refuses new connections, and drops those there are, until let in again. */
  refuse(refused: boolean): void
  /** Called with bytes on their way to the server. */
  onSent(fn: (bytes: Buffer) => void): void
  close(): Promise<void>
}

export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const upstream = new URL(target)
  const defaultPort = upstream.protocol.startsWith('redis') ? 6379 : 5672
  const sockets = new Set<Socket>()
  let frozen = false
  let refused = false
  let sent: (bytes: Buffer) => void = () => {}

  const listener = createServer((client) => {
    if (refused) return client.destroy()
    const server = connect({ host: upstream.hostname, port: Number(upstream.port || defaultPort) })
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => {
        if (from === client) sent(bytes)
        to.write(bytes)
      })
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      if (frozen) from.pause()
    }
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((listener.address() as AddressInfo).port)
  return {
    url: url.href,
    cut,
    freeze() {
      frozen = true
      for (const socket of sockets) socket.pause()
    },
    resume() {
      frozen = false
      for (const socket of sockets) socket.resume()
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
