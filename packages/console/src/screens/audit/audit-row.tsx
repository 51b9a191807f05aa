import { ActionIcon, Anchor, Code, Group, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Item } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import type { Search } from '../../app/router.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { TenantName } from '../administration/tenant.tsx'

interface Props {
  record: Item<'listAuditLogs'>
  onFilter: (changed: Search) => void
}

const COLUMNS = 7
/** The screens that show one record by its id. */
const SCREENS: Record<string, string> = { deployment: '/deployments', target: '/targets' }

/** One record, and on demand its details. A click on actor, action or resource filters by it. */
export function AuditRow({ record, onFilter }: Props) {
  const [isOpen, { toggle }] = useDisclosure(false)
  const { id, actor_id, actor_name, actor_ip, action, resource_type, resource_id } = record
  const detailsId = `details-${id}`
  const screen = SCREENS[resource_type]
  return (
    <>
      <Table.Tr>
        <Table.Td>
          <ActionIcon
            variant="subtle"
            size="sm"
            onClick={toggle}
            aria-expanded={isOpen}
            aria-controls={detailsId}
            aria-label={`Details of ${action}`}
          >
            {isOpen ? '▾' : '▸'}
          </ActionIcon>
        </Table.Td>
        <Table.Td>
          <TimeAgo at={record.at} />
        </Table.Td>
        <Table.Td>
          {actor_id === null ? (
            (actor_name ?? 'Nobody')
          ) : (
            <Filter label={actor_name ?? actor_id} onClick={() => onFilter({ actor_id })} />
          )}
        </Table.Td>
        <Table.Td>{actor_ip ?? '–'}</Table.Td>
        <Table.Td>
          <Filter label={action} onClick={() => onFilter({ action })} />
        </Table.Td>
        <Table.Td>
          {resource_id === null ? (
            resource_type
          ) : (
            <Filter
              label={`${resource_type} ${resource_id}`}
              onClick={() => onFilter({ resource_type, resource_id })}
            />
          )}
        </Table.Td>
        <Table.Td>
          <Outcome details={record.details} />
        </Table.Td>
      </Table.Tr>
      {isOpen && (
        <Table.Tr id={detailsId}>
          <Table.Td colSpan={COLUMNS}>
            <Stack gap="xs" p="xs">
              <Group gap="lg">
                <Text size="sm">
                  At <Code>{record.at}</Code>
                </Text>
                <Text size="sm">
                  Request <Code>{record.request_id ?? '–'}</Code>
                </Text>
                <Text size="sm">
                  Tenant <TenantName id={record.tenant_id} />
                </Text>
                {screen && resource_id !== null && (
                  <Anchor component={Link} to={`${screen}/${resource_id}`} size="sm">
                    Open the {resource_type}
                  </Anchor>
                )}
              </Group>
              <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
                {JSON.stringify(record.details, null, 2)}
              </Code>
            </Stack>
          </Table.Td>
        </Table.Tr>
      )}
    </>
  )
}

function Filter({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <Anchor component="button" size="sm" ta="left" onClick={onClick} style={{ overflowWrap: 'anywhere' }}>
      {label}
    </Anchor>
  )
}

/** Details of a refusal and of a failure have an outcome and the code of the error. */
function Outcome({ details }: { details: Record<string, unknown> }) {
  const { outcome, code } = details
  if (outcome !== 'refused' && outcome !== 'failed') return 'done'
  return (
    <>
      <Text size="sm" fw={600}>
        {outcome}
      </Text>
      {typeof code === 'string' && <Code>{code}</Code>}
    </>
  )
}
