import { Table, Text } from '@mantine/core'
import type { CSSProperties } from 'react'
import { useSession } from '../../session/session.tsx'
import { MatrixCell } from './matrix-cell.tsx'
import { environmentsOf, hasTenants, linesOf, type Row } from './matrix-layout.ts'
import { SourceLink } from './source-link.tsx'

/** On a phone there is room for an environment beside the source. */
const SOURCE_WIDTH = 'min(200px, 34vw)'
const TENANT_WIDTH = 110
const CELL_WIDTH = 160

/** The name of the source stays in view while the environments scroll. */
const STAYS: CSSProperties = {
  position: 'sticky',
  left: 0,
  zIndex: 1,
  background: 'var(--mantine-color-body)',
  verticalAlign: 'top',
}
const AT_THE_TOP: CSSProperties = { verticalAlign: 'top' }

/** Sources × environments. Where tenants deploy, each of them has a line below the source. */
export function MatrixTable({ rows }: { rows: readonly Row[] }) {
  const { user } = useSession()
  const environments = environmentsOf(rows)
  // A tenant's user sees only what the own tenant deploys.
  const byTenant = user.tenant_id === null && hasTenants(rows)
  const width = CELL_WIDTH * environments.length + (byTenant ? TENANT_WIDTH : 0)
  return (
    <Table.ScrollContainer minWidth={`calc(${SOURCE_WIDTH} + ${width}px)`}>
      <Table aria-label="Versions by source and environment" layout="fixed" withColumnBorders highlightOnHover={false}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col" w={SOURCE_WIDTH} style={STAYS}>
              Source
            </Table.Th>
            {byTenant && (
              <Table.Th scope="col" w={TENANT_WIDTH}>
                Tenant
              </Table.Th>
            )}
            {environments.map(({ id, name }) => (
              <Table.Th key={id} scope="col">
                {name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) =>
            linesOf(row).map(({ tenant, cells }, index, lines) => (
              <Table.Tr key={`${row.source_id} ${tenant.id}`}>
                {index === 0 && (
                  <Table.Th scope="rowgroup" rowSpan={lines.length} style={STAYS}>
                    <SourceLink kind={row.source_type} id={row.source_id} name={row.source_name} />
                    <Text size="xs">{row.source_type}</Text>
                  </Table.Th>
                )}
                {byTenant && (
                  <Table.Th scope="row" fw={400} style={AT_THE_TOP}>
                    {tenant.name}
                  </Table.Th>
                )}
                {environments.map(({ id }) => (
                  <Table.Td key={id} style={AT_THE_TOP}>
                    <MatrixCell row={row} cell={cells.find(({ environment_id }) => environment_id === id)} />
                  </Table.Td>
                ))}
              </Table.Tr>
            )),
          )}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
