import { CommandError } from '@slipway/commands'
import type { ProbeResult, ProbeTarget } from '@slipway/contracts'
import type { SshConnections } from './connections.ts'
import { KnownHostKey } from './host-key.ts'

/** How long the probes of one answer may take. */
const LIMIT_MS = 20_000

/**
 * Checks which targets answer with their pinned host key and, if a login is given, accept it. Leaves out targets without a
 * result after 20 s.
 */
export async function probe(connections: SshConnections, targets: ProbeTarget[]): Promise<ProbeResult[]> {
  const signal = AbortSignal.timeout(LIMIT_MS)
  const results = targets.map(async ({ id, host, port, host_key, login }): Promise<ProbeResult | null> => {
    try {
      const known = host_key === undefined ? null : new KnownHostKey(host_key)
      const seen = await connections.probe({ host, port }, login ?? null, known, signal)
      return { id, host, port, problem: null, host_key: seen }
    } catch (error) {
      if (error instanceof CommandError) return { id, host, port, problem: error.message, host_key: null }
      if (signal.aborted) return null
      throw error
    }
  })
  return (await Promise.all(results)).filter((result) => result !== null)
}
