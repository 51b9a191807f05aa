import { connect, type Socket } from 'node:net'

/**
 * A socket that hands over at once what is written in one go. The library writes each packet in three pieces, and each costs
 * us a call and the host a turn.
 */
export function openSocket(host: string, port: number): Socket {
  const socket = connect({ host, port, noDelay: true })
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean
  // Here and not in a class of its own: a socket that connects takes back its method from any.
  socket.write = (...args: unknown[]) => {
    if (socket.writableCorked === 0) {
      socket.cork()
      process.nextTick(() => socket.uncork())
    }
    return write(...args)
  }
  return socket
}
