import type { Command, OutputStream, Transport } from '@slipway/commands'

/** A command with defaults for everything that a test does not set. */
export function commandOf(parts: Partial<Command>): Command {
  return {
    identity: { deploymentId: 'd', epoch: 1, target: 0, action: 0, attempt: 0, rollback: false },
    script: 'true',
    interpreter: 'sh',
    environment: {},
    workingDirectory: null,
    files: [],
    ...parts,
  }
}

/** Starts a command and collects its output. */
export function startOn(transport: Transport, parts: Partial<Command>, abort = new AbortController()) {
  const output = { stdout: '', stderr: '' }
  const io = {
    onOutput: (stream: OutputStream, chunk: Buffer) => {
      output[stream] += chunk.toString('utf8')
    },
  }
  return { output, abort, end: transport.run(commandOf(parts), io, abort.signal) }
}
