import type { ProbeRequest, ProbeResponse } from '@slipway/contracts'
import { CommandError } from '@slipway/execution'
import type { SshConnections } from './connections.ts'
import { KnownHostKey } from './host-key.ts'

/** How long a call may take. */
const LIMIT_MS = 20_000

type Result = ProbeResponse['results'][number]

/** Looks which of the hosts let us in. Those for which there was no time are not among the results. */
export async function probe(connections: SshConnections, targets: ProbeRequest['targets']): Promise<ProbeResponse> {
  const signal = AbortSignal.timeout(LIMIT_MS)
  const results = targets.map(async ({ id, connection }): Promise<Result | null> => {
    try {
      const known = connection.host_key === undefined ? null : new KnownHostKey(connection.host_key)
      return { id, problem: null, host_key: await connections.probe(connection, known, signal) }
    } catch (error) {
      if (error instanceof CommandError) return { id, problem: error.message, host_key: null }
      if (signal.aborted) return null
      throw error
    }
  })
  return { results: (await Promise.all(results)).filter((result) => result !== null) }
}
