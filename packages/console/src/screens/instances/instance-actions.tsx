import { Checkbox, Group } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { useSession } from '../../session/session.tsx'

export function InstanceActions({ instance }: { instance: Item<'listInstances'> }) {
  const { id, name, draining } = instance
  const { can } = useSession()
  const update = useWrite('updateInstance', 'listInstances')
  return (
    <Group gap={4} wrap="nowrap" justify="flex-end">
      {can('instances:update') && (
        <ConfirmButton
          size="compact-xs"
          variant="default"
          label={draining ? 'Resume' : 'Drain'}
          question={
            draining
              ? `${name} is given new deployments again.`
              : `${name} finishes its deployments and is given no new ones until it is resumed.`
          }
          onConfirm={() => update.mutateAsync({ params: { id }, body: { draining: !draining } })}
        />
      )}
      {can('instances:delete') && <Remove instance={instance} />}
    </Group>
  )
}

function Remove({ instance: { id, name, status, active } }: { instance: Item<'listInstances'> }) {
  const [isForced, setForced] = useState(false)
  const remove = useWrite('deleteInstance', 'listInstances')
  const needsForce = status !== 'offline' || active > 0
  return (
    <ConfirmButton
      size="compact-xs"
      variant="default"
      label="Remove"
      question={`${name} is removed and its name is free for a new instance.`}
      inputs={
        needsForce && (
          <Checkbox
            label="Remove it although it is online or runs deployments"
            description="Its credential becomes invalid at once. Other instances resume its deployments 30 seconds after its last heartbeat."
            checked={isForced}
            onChange={(event) => setForced(event.currentTarget.checked)}
          />
        )
      }
      onConfirm={() => remove.mutateAsync({ params: { id }, query: { force: isForced ? 'true' : 'false' } })}
    />
  )
}
