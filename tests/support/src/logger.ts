import { Writable } from 'node:stream'
import { createLogger, type Logger } from '@slipway/runtime'

/** The logger for objects that a test creates. Writes only errors, to standard error like jest. */
export const testLogger: Logger = createLogger({ service: 'test', level: 'error', stream: process.stderr })

/** A logger that keeps its output in memory. */
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
