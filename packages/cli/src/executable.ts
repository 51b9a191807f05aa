import os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { EXIT_CODES } from './exit-code.ts'
import type { Io } from './io.ts'
import { main } from './main.ts'

/** Retries for this time survive a restart of the server. */
const RETRY_FOR_MS = 60_000
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

function onInterrupt(listener: () => void): () => void {
  let isInterrupted = false
  const onSignal = () => {
    // A second signal ends the process at once.
    if (isInterrupted) process.exit(EXIT_CODES.interrupted)
    isInterrupted = true
    listener()
  }
  for (const name of SIGNALS) process.on(name, onSignal)
  return () => {
    for (const name of SIGNALS) process.off(name, onSignal)
  }
}

// A reader such as `head` closes the pipe when it has enough lines. This is a success.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT_CODES.success)
  throw error
})

const io: Io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  home: os.homedir(),
  onInterrupt,
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
  openBrowser: async (address) => {
    const { default: open } = await import('open')
    return await open(address)
  },
  retryForMs: RETRY_FOR_MS,
}
// Not process.exit(): a pipe may still hold output.
process.exitCode = await main(process.argv.slice(2), io)
