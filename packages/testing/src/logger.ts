import { createLogger, type Logger } from '@slipway/runtime'

/** For parts that a test makes itself: only what must not happen is written, where jest's own output goes. */
export const testLogger: Logger = createLogger({ service: 'test', level: 'error', stream: process.stderr })
