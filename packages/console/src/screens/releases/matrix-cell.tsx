import { Anchor, Group, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { StateBadge } from '../../components/state-badge.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { CellActs } from './cell-acts.tsx'
import type { Ahead, Cell, Row } from './matrix-layout.ts'
import { variantsText } from './variants.ts'

/** More versions are in the list that the cell leads to. */
const MAX_VERSIONS = 3
const DRIFTED = 'A check found the target changed since its deployment'
const FAILED = 'The last attempt failed or was rolled back'

/** The versions in force of a source in an environment, and attempts that run or failed. */
export function MatrixCell({ row, cell, ahead }: { row: Row; cell: Cell | undefined; ahead: Ahead | null }) {
  if (cell === undefined) return <Text size="xs">–</Text>
  const { versions, running, failed, drifted, target_count } = cell
  const more = versions.length - MAX_VERSIONS
  return (
    <>
      <div style={{ float: 'right' }}>
        <CellActs row={row} cell={cell} />
      </div>
      {versions.slice(0, MAX_VERSIONS).map((one) => (
        <div key={one.version}>
          <CellLink row={row} cell={cell} version={one.version}>
            {variantsText(one.version, one.variants)}
          </CellLink>
          {one.target_count < target_count && (
            <Text span size="xs" ml={6}>
              {one.target_count.toLocaleString()} of {target_count.toLocaleString()}
            </Text>
          )}
          <Text size="xs" c="dimmed">
            <TimeAgo at={one.applied_at} />
            {one.applied_by !== null && ` by ${one.applied_by}`}
          </Text>
        </div>
      ))}
      {versions.length === 0 && <Text size="xs">none in force</Text>}
      {ahead && <Behind ahead={ahead} />}
      {more > 0 && (
        <CellLink row={row} cell={cell}>
          {more.toLocaleString()} more {more === 1 ? 'version' : 'versions'}
        </CellLink>
      )}
      {drifted > 0 && (
        <CellLink row={row} cell={cell} state="drifted">
          <span title={DRIFTED}>
            <StateBadge state="drifted" label={`≠ ${drifted.toLocaleString()} drifted`} />
          </span>
        </CellLink>
      )}
      {(running > 0 || failed > 0) && (
        <CellLink row={row} cell={cell}>
          <Group gap={4} mt={4}>
            {running > 0 && <StateBadge state="running" label={`▶ ${running.toLocaleString()} running`} />}
            {failed > 0 && (
              <span title={FAILED}>
                <StateBadge state="failed" label={`✗ ${failed.toLocaleString()} failed`} />
              </span>
            )}
          </Group>
        </CellLink>
      )}
    </>
  )
}

/** That the stage before has a higher version. */
function Behind({ ahead: { environment, version } }: { ahead: Ahead }) {
  const words = `behind ${environment}: ${version}`
  return (
    <Text className="matrix-behind" size="xs" fw={600} lineClamp={2} title={words} c="light-dark(#8a3a08, #ffc078)">
      {words}
    </Text>
  )
}

/** Leads to the targets of a cell. The API does not search for targets without environment or tenant. */
function CellLink(props: { row: Row; cell: Cell; version?: string; state?: string; children: React.ReactNode }) {
  const { row, cell, version, state, children } = props
  const filters = {
    [`${row.source_type}_id`]: row.source_id,
    environment_id: cell.environment_id ?? undefined,
    tenant_id: cell.tenant_id ?? undefined,
    version,
    state,
  }
  return (
    <Anchor component={Link} to="/releases" search={filters as never} size="sm" {...(version ? { fw: 600 } : {})}>
      {children}
    </Anchor>
  )
}
