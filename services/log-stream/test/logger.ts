import { Writable } from 'node:stream'
import { createLogger, type Logger } from '@slipway/runtime'

/** A logger that writes nowhere else, and what it wrote so far. */
export function keptLog(): { logger: Logger; written: () => string } {
  let written = ''
  const stream = new Writable({
    write(chunk, _encoding, done) {
      written += String(chunk)
      done()
    },
  })
  return { logger: createLogger({ service: 'test', level: 'debug', stream }), written: () => written }
}
