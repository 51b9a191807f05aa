import type { RowOf } from '../sql/statement.ts'
import type { findSightings } from './targets.sql.ts'

type Sighting = RowOf<typeof findSightings>

const NEVER_PROBED =
  'no instance has probed the target yet; if this lasts, none is online, or none matches its instance selector'
const DISABLED = 'the target is disabled, so no instance tries to reach it'
const NO_INSTANCE = 'no orchestration instance is online'
const NEVER_ENROLLED = 'no agent has enrolled for the target'
const SILENT_AGENT = 'the agent sends no heartbeats'

/** Why and since when a target is not reached; null for both if it is. */
export function reachability(
  { connection, enabled }: { connection: unknown; enabled: boolean },
  sighting: Sighting | undefined,
): { last_error: string | null; unreachable_since: Date | null } {
  const { type } = connection as { type: string }
  const { last_seen_at = null, last_error = null, failing_since = null, status = 'offline' } = sighting ?? {}
  if (failing_since !== null) return { last_error, unreachable_since: failing_since }
  if (status === 'online') return { last_error: null, unreachable_since: null }
  return { last_error: reasonWithoutAttempt(type, enabled, last_seen_at), unreachable_since: last_seen_at }
}

function reasonWithoutAttempt(type: string, enabled: boolean, lastSeen: Date | null): string {
  if (type === 'local' || type === 'simulated') return NO_INSTANCE
  if (type === 'agent') return lastSeen === null ? NEVER_ENROLLED : SILENT_AGENT
  return enabled ? NEVER_PROBED : DISABLED
}
