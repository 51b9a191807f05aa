import type { Command } from '@slipway/execution'

/** A command as a run makes it, of which a test says only what matters to it. */
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
