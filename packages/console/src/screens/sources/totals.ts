import { useRead } from '../../api/queries.ts'
import { KINDS, type Kind, OPERATIONS } from '../../components/source-kinds.ts'
import { useSession } from '../../session/session.tsx'

/** How many sources of each kind there are; undefined for a kind that is not known yet, or that the user may not read. */
export function useSourceTotals(enabled = true): Record<Kind, number | undefined> {
  const { can } = useSession()
  const solution = useRead(OPERATIONS.solution.list, ONE, { enabled: enabled && can('solutions:read') })
  const sequence = useRead(OPERATIONS.sequence.list, ONE, { enabled: enabled && can('sequences:read') })
  const action = useRead(OPERATIONS.action.list, ONE, { enabled: enabled && can('actions:read') })
  return {
    solution: solution.data?.meta.total,
    sequence: sequence.data?.meta.total,
    action: action.data?.meta.total,
  }
}

const ONE = { query: { limit: 1 } }

/**
 * The kind to show if the address names none: the largest kind that has sources, or actions if there are no sources. Null until the
 * totals have arrived.
 */
export function useUsualKind(isNeeded: boolean): Kind | null {
  const { can } = useSession()
  const totals = useSourceTotals(isNeeded)
  const visible = KINDS.filter((kind) => can(`${kind}s:read`))
  const found = visible.find((kind) => totals[kind] !== 0)
  if (found !== undefined && totals[found] === undefined) return null
  return found ?? visible.at(-1) ?? null
}
