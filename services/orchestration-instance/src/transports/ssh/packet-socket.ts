import { connect, type Socket } from 'node:net'

/**
 * A socket that sends the writes of one turn in one piece. The library writes each packet in three pieces, and each piece costs
 * a system call here and a wake-up on the host.
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
