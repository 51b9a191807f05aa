import { createLogger, type Logger } from '@slipway/runtime'

/** The logger for objects that a test creates. Writes only errors, to standard error like jest. */
export const testLogger: Logger = createLogger({ service: 'test', level: 'error', stream: process.stderr })
