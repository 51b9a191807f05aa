import { ActionIcon, Menu } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { useSession } from '../../session/session.tsx'
import { useRight } from '../../session/use-right.ts'
import type { Cell, Row } from './matrix-layout.ts'
import { RollbackDialog } from './rollback-dialog.tsx'

interface Props {
  row: Row
  cell: Cell
}

/**
 * Whether the API can roll back this cell alone. It knows no filter for targets without environment, nor for releases without
 * tenant beside those of tenants.
 */
const isAPlace = ({ cells }: Row, { environment_id, tenant_id }: Cell) =>
  environment_id !== null &&
  (tenant_id !== null || cells.every((one) => one.environment_id !== environment_id || one.tenant_id === null))

/** As many as fit on a screen. The form finds the others. */
const MAX_ENVIRONMENTS = 12

/** What can be done from a cell of the matrix: deploy its version to another environment, or roll it back. */
export function CellActs({ row, cell }: Props) {
  const { source_type, source_id, source_name } = row
  const { environment_id, environment_name, tenant_id, versions } = cell
  const [isOpen, setOpen] = useState(false)
  const [isRollingBack, setRollingBack] = useState(false)
  const may = useRight('deployments:create')
  const { can, user } = useSession()
  const mayChoose = can('environments:read')
  const environments = useRead('listEnvironments', { query: { limit: 100 } }, { enabled: isOpen && mayChoose })
  const [only, another] = versions
  if (!may.allowed || versions.length === 0) return null
  const isHere = (id: string) => id === environment_id
  const others = (environments.data?.data ?? []).filter(({ id }) => !isHere(id)).slice(0, MAX_ENVIRONMENTS)
  // The server adds the tenant of the user.
  const tenant = tenant_id === null || tenant_id === user.tenant_id ? {} : { tenant: tenant_id }
  const link = (search: Record<string, string>) =>
    ({
      component: Link,
      to: '/deploy',
      search: { kind: source_type, id: source_id, ...tenant, ...search } as never,
    }) as const
  return (
    <>
      <Menu opened={isOpen} onChange={setOpen} withinPortal position="bottom-end" width={260}>
        <Menu.Target>
          <ActionIcon
            variant="subtle"
            size="xs"
            aria-label={`Actions for ${source_name} in ${environment_name ?? 'no environment'}`}
          >
            ⋯
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {isAPlace(row, cell) && <Menu.Item onClick={() => setRollingBack(true)}>Roll back…</Menu.Item>}
          {environment_id !== null && (
            <Menu.Item {...link({ environment: environment_id, as: 'last' })}>Deploy another version here…</Menu.Item>
          )}
          {only !== undefined && another === undefined && (
            <>
              <Menu.Label>Deploy {only.version} to</Menu.Label>
              {others.map(({ id, name }) => (
                <Menu.Item
                  key={id}
                  title={name}
                  style={{ overflowWrap: 'anywhere' }}
                  {...link({ versions_of: only.deployment_id, environment: id, as: 'last', step: 'preview' })}
                >
                  {name}
                </Menu.Item>
              ))}
              <Menu.Item {...link({ versions_of: only.deployment_id })}>Other targets…</Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      {isRollingBack && (
        <RollbackDialog
          scope={{
            kind: source_type,
            id: source_id,
            name: environment_name === null ? source_name : `${source_name} in ${environment_name}`,
            environmentId: environment_id,
            tenantId: tenant_id,
          }}
          onClose={() => setRollingBack(false)}
        />
      )}
    </>
  )
}
