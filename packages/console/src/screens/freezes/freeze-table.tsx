import { Badge, Button, Code, Group, Table, Text, VisuallyHidden } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { useSession } from '../../session/session.tsx'
import { TenantName } from '../administration/tenant.tsx'
import { RecordName } from '../environments/record-select.tsx'
import { formatMoment, formatWindow } from './format.ts'
import { FreezeForm } from './freeze-form.tsx'
import { nextWindow, windowsBetween } from './windows.ts'

type Freeze = Item<'listFreezes'>

export function FreezeTable({ freezes, now }: { freezes: Freeze[]; now: number }) {
  const [changed, setChanged] = useState<Freeze | null>(null)
  return (
    <Table.ScrollContainer minWidth={960}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>In force</Table.Th>
            <Table.Th>Next window</Table.Th>
            <Table.Th>Applies to</Table.Th>
            <Table.Th>Recurrence</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {freezes.map((freeze) => (
            <Table.Tr key={freeze.id}>
              <Table.Td>
                <Text size="sm" fw={600}>
                  {freeze.name}
                </Text>
                <Text size="xs">{freeze.description}</Text>
                {freeze.created_by && <Text size="xs">by {freeze.created_by}</Text>}
              </Table.Td>
              <Table.Td>
                <InForce freeze={freeze} now={now} />
              </Table.Td>
              <Table.Td>
                <NextWindow freeze={freeze} now={now} />
              </Table.Td>
              <Table.Td>
                <Scope freeze={freeze} />
              </Table.Td>
              <Table.Td>
                {freeze.recurrence === null ? (
                  'once'
                ) : (
                  <Code style={{ overflowWrap: 'anywhere' }}>{freeze.recurrence}</Code>
                )}
                {freeze.time_zone && <Text size="xs">{freeze.time_zone}</Text>}
              </Table.Td>
              <Table.Td>
                <Actions freeze={freeze} onChange={() => setChanged(freeze)} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {changed && <FreezeForm freeze={changed} onClose={() => setChanged(null)} />}
    </Table.ScrollContainer>
  )
}

function InForce({ freeze, now }: { freeze: Freeze; now: number }) {
  if (!freeze.active) return <>no</>
  const present = windowsBetween(freeze, now, now + 1)?.[0]
  return (
    <>
      <Badge color="red.9" variant="filled" autoContrast={false} c="white" tt="none" radius="sm">
        in force
      </Badge>
      {present && <Text size="xs">until {formatMoment(present.end)}</Text>}
    </>
  )
}

function NextWindow({ freeze, now }: { freeze: Freeze; now: number }) {
  const next = nextWindow(freeze, now)
  if (next === undefined) return <Text size="sm">by the rule</Text>
  return <Text size="sm">{next === null ? '–' : formatWindow(next)}</Text>
}

function Scope({ freeze: { tenant_id, environment_id, solution_id } }: { freeze: Freeze }) {
  if (tenant_id === null && environment_id === null && solution_id === null) return <>every deployment</>
  return (
    <>
      {tenant_id && (
        <Text size="sm">
          Tenant <TenantName id={tenant_id} />
        </Text>
      )}
      {environment_id && (
        <Text size="sm">
          Environment <RecordName kind="environment" id={environment_id} />
        </Text>
      )}
      {solution_id && (
        <Text size="sm">
          Solution <RecordName kind="solution" id={solution_id} />
        </Text>
      )}
    </>
  )
}

function Actions({ freeze: { id, name }, onChange }: { freeze: Freeze; onChange: () => void }) {
  const { can } = useSession()
  const remove = useWrite('deleteFreeze', 'listFreezes')
  return (
    <Group gap={4} wrap="nowrap" justify="flex-end">
      {can('freezes:update') && (
        <Button size="compact-xs" variant="default" aria-label={`Change ${name}`} onClick={onChange}>
          Change
        </Button>
      )}
      {can('freezes:delete') && (
        <ConfirmButton
          size="compact-xs"
          variant="default"
          label="Delete"
          question={`The freeze ${name} is deleted. Requests that it holds back start.`}
          onConfirm={() => remove.mutateAsync({ params: { id } })}
        />
      )}
    </Group>
  )
}
