import type { IncomingMessage } from 'node:http'

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** The address that a request came from: the socket's. */
export function clientAddress(request: IncomingMessage): string {
  const address = request.socket.remoteAddress ?? ''
  return MAPPED_IPV4.exec(address)?.[1] ?? address
}
