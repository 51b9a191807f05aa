import { Checkbox, Group, Table, Text } from '@mantine/core'
import { ACTIONS, PERMISSION_ROWS, type Permission } from '../../components/permissions.ts'
import { useSession } from '../../session/session.tsx'

interface Props {
  value: ReadonlySet<string>
  /** What the role has now: this can stay even where the caller lacks it. */
  stored: readonly string[]
  /** Absent where the grid only shows. */
  onChange?: (value: ReadonlySet<string>) => void
}

/** Resources down, actions across. Permissions that the caller lacks cannot be given. */
export function PermissionGrid({ value, stored, onChange }: Props) {
  const { canEverywhere } = useSession()
  const readOnly = onChange === undefined
  const set = (permissions: readonly Permission[], isGranted: boolean) => {
    const next = new Set(value)
    for (const permission of permissions) {
      if (isGranted) next.add(permission)
      else next.delete(permission)
    }
    onChange?.(next)
  }
  const isLocked = (permission: Permission) => readOnly || (!canEverywhere(permission) && !stored.includes(permission))
  const checkbox = (permission: Permission, label?: string) => (
    <Checkbox
      key={permission}
      aria-label={permission}
      label={label}
      checked={value.has(permission)}
      disabled={isLocked(permission)}
      onChange={(event) => set([permission], event.currentTarget.checked)}
    />
  )
  return (
    <Table.ScrollContainer minWidth={520}>
      <Table aria-label="Permissions">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Resource</Table.Th>
            {ACTIONS.map((action) => (
              <Table.Th key={action}>{action}</Table.Th>
            ))}
            <Table.Th>more</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {PERMISSION_ROWS.map(({ resource, permissions, special }) => {
            const all = [...permissions, ...special].filter((permission) => !isLocked(permission))
            const given = all.filter((permission) => value.has(permission)).length
            return (
              <Table.Tr key={resource}>
                <Table.Th scope="row">
                  {readOnly ? (
                    <Text size="sm">{resource}</Text>
                  ) : (
                    <Checkbox
                      label={resource}
                      aria-label={`All permissions for ${resource}`}
                      disabled={all.length === 0}
                      checked={all.length > 0 && given === all.length}
                      indeterminate={given > 0 && given < all.length}
                      onChange={(event) => set(all, event.currentTarget.checked)}
                    />
                  )}
                </Table.Th>
                {permissions.map((permission) => (
                  <Table.Td key={permission}>{checkbox(permission)}</Table.Td>
                ))}
                <Table.Td>
                  <Group gap="xs">
                    {special.map((permission) => checkbox(permission, permission.split(':')[1] ?? permission))}
                  </Group>
                </Table.Td>
              </Table.Tr>
            )
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
