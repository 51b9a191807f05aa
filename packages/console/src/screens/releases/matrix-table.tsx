import './matrix.css'
import { Table, Text } from '@mantine/core'
import { useSession } from '../../session/session.tsx'
import { MatrixCell } from './matrix-cell.tsx'
import { aheadOf, candidateFor, environmentsOf, hasTenants, type Line, linesOf, type Row } from './matrix-layout.ts'
import { PromotionMark } from './promotion-mark.tsx'
import type { Promotions } from './promotions.ts'
import { SourceLink } from './source-link.tsx'

/** On a phone there is room for an environment beside the source. */
const SOURCE_WIDTH = 'min(200px, 34vw)'
const TENANT_WIDTH = 110
const CELL_WIDTH = 160

/** Sources × environments. Where tenants deploy, each of them has a line below the source. */
export function MatrixTable({ rows, promotions }: { rows: readonly Row[]; promotions: Promotions }) {
  const { user } = useSession()
  const environments = environmentsOf(rows, promotions)
  // A tenant's user sees only what the own tenant deploys.
  const byTenant = user.tenant_id === null && hasTenants(rows)
  const askedAtOnce = firstCandidates(rows, environments, promotions)
  const width = CELL_WIDTH * environments.length + (byTenant ? TENANT_WIDTH : 0)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
    <section className="matrix" aria-label="Matrix" tabIndex={0}>
      <Table
        aria-label="Versions by source and environment"
        layout="fixed"
        withColumnBorders
        highlightOnHover={false}
        miw={`calc(${SOURCE_WIDTH} + ${width}px)`}
      >
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col" w={SOURCE_WIDTH} className="matrix-source">
              Source
            </Table.Th>
            {byTenant && (
              <Table.Th scope="col" w={TENANT_WIDTH}>
                Tenant
              </Table.Th>
            )}
            {environments.map(({ id, name }) => (
              <Table.Th key={id} scope="col">
                <div className="matrix-name" title={name}>
                  {name}
                </div>
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) =>
            linesOf(row).map((line, index, lines) => {
              const { tenant, cells } = line
              return (
                <Table.Tr key={`${row.source_id} ${tenant.id}`}>
                  {index === 0 && (
                    <Table.Th scope="rowgroup" rowSpan={lines.length} className="matrix-source">
                      <div className="matrix-name" title={row.source_name}>
                        <SourceLink kind={row.source_type} id={row.source_id} name={row.source_name} />
                      </div>
                      <Text size="xs">{row.source_type}</Text>
                    </Table.Th>
                  )}
                  {byTenant && (
                    <Table.Th scope="row" fw={400}>
                      <div className="matrix-name" title={tenant.name}>
                        {tenant.name}
                      </div>
                    </Table.Th>
                  )}
                  {environments.map(({ id }) => {
                    const cell = cells.find(({ environment_id }) => environment_id === id)
                    return (
                      <Table.Td key={id}>
                        <MatrixCell row={row} cell={cell} ahead={cell === undefined ? null : aheadOf(line, cell)} />
                        <Promotion {...{ row, line, promotions, askedAtOnce }} to={id} />
                      </Table.Td>
                    )
                  })}
                </Table.Tr>
              )
            }),
          )}
        </Table.Tbody>
      </Table>
    </section>
  )
}

interface PromotionProps {
  row: Row
  line: Line
  to: string | null
  promotions: Promotions
  askedAtOnce: ReadonlySet<string>
}

function Promotion({ row, line, to, promotions, askedAtOnce }: PromotionProps) {
  const { user } = useSession()
  // The answer is about what the user deploys: not about each tenant that the user sees.
  const candidate = line.tenant.id === user.tenant_id ? candidateFor(promotions, line, to) : null
  if (candidate === null || to === null) return null
  return <PromotionMark {...{ row, candidate, to }} isAskedAtOnce={askedAtOnce.has(keyOf(row, line, to))} />
}

/** One call for each of them. The others are asked for when the pointer is on them. */
const MAX_ASKED_AT_ONCE = 12

const keyOf = (row: Row, { tenant }: Line, to: string | null) => [row.source_id, tenant.id, to].join(' ')

/** The first cells before which a new version stands. */
function firstCandidates(
  rows: readonly Row[],
  environments: readonly { id: string | null }[],
  promotions: Promotions,
): ReadonlySet<string> {
  const keys = rows.flatMap((row) =>
    linesOf(row).flatMap((line) =>
      environments.flatMap(({ id }) => (candidateFor(promotions, line, id)?.isNew ? [keyOf(row, line, id)] : [])),
    ),
  )
  return new Set(keys.slice(0, MAX_ASKED_AT_ONCE))
}
