import { parentPort } from 'node:worker_threads'
import type { Interpreter } from '@slipway/domain'
import { readScript } from './read.ts'

/** Reads scripts outside of the event loop of a service. */
parentPort?.on('message', async ({ script, interpreter }: { script: string; interpreter: Interpreter }) => {
  try {
    parentPort?.postMessage({ read: await readScript(script, interpreter) })
  } catch (error) {
    parentPort?.postMessage({ failure: error instanceof Error ? error.message : String(error) })
  }
})
