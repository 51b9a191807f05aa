import { connect, type Socket } from 'node:net'

/**
 * Opens a socket that sends all writes of one turn of the event loop together. The library writes each packet in three pieces.
 * Each piece would cost a system call here and a wake-up on the host (goal: a command on 200 SSH hosts).
 */
export function openSocket(host: string, port: number): Socket {
  const socket = connect({ host, port, noDelay: true })
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean
  // A subclass does not work: a socket that connects restores its own `write`.
  socket.write = (...args: unknown[]) => {
    if (socket.writableCorked === 0) {
      socket.cork()
      process.nextTick(() => socket.uncork())
    }
    return write(...args)
  }
  return socket
}
