import { parentPort, workerData } from 'node:worker_threads'
import { createDatabase } from '@slipway/database'
import { createLogger, KeyRing, SpanKind, traced, withContext } from '@slipway/runtime'
import { outcomeOf } from '../planning/outcome.ts'
import { createSensitiveNames } from '../records/sensitive-names.ts'
import type { FromThread, ThreadSettings, ToThread } from './messages.ts'

/** The thread that makes large plans. It reads from the database itself, because the records are larger than the command. */
const { name, databaseUrl, encryptionKeys, logLevel } = workerData as ThreadSettings
const logger = createLogger({ service: name, level: logLevel })
const database = createDatabase({ url: databaseUrl, applicationName: `${name} large`, max: 5, tenant: '*', logger })
const resources = {
  database,
  keyRing: KeyRing.parse(encryptionKeys),
  sensitiveNames: createSensitiveNames(),
}

parentPort?.on('message', async (envelope: ToThread) => {
  const { request_id, message_id, traceparent = null } = envelope
  try {
    const outcome = await withContext({ request_id, message_id }, () =>
      traced('plan', { kind: SpanKind.INTERNAL, parent: traceparent }, () => outcomeOf(resources, envelope, logger)),
    )
    tell({ outcome })
  } catch (error) {
    tell({ failure: error instanceof Error ? error.message : String(error) })
  }
})

function tell(message: FromThread): void {
  parentPort?.postMessage(message)
}
