import { Checkbox } from '@mantine/core'
import { ConflictError, type Item } from '@slipway/client'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { ChangeButton } from '../../components/row-buttons.tsx'
import { useSession } from '../../session/session.tsx'
import { ChangeLabels } from './change-labels.tsx'

const BUTTON = { size: 'compact-xs', variant: 'default' } as const

/** Only users without tenant change instances. */
export function InstanceActions({ instance }: { instance: Item<'listInstances'> }) {
  const { can, user } = useSession()
  const [isLabelling, setLabelling] = useState(false)
  if (user.tenant_id !== null) return null
  return (
    <>
      {can('instances:update') && (
        <>
          <ChangeButton label="Labels" name={`of ${instance.name}`} onClick={() => setLabelling(true)} />
          <Drain instance={instance} />
        </>
      )}
      {can('instances:delete') && <Remove instance={instance} />}
      {isLabelling && <ChangeLabels instance={instance} onClose={() => setLabelling(false)} />}
    </>
  )
}

function Drain({ instance: { id, name, draining } }: { instance: Item<'listInstances'> }) {
  const update = useWrite('updateInstance', 'listInstances')
  const label = draining ? 'Resume' : 'Drain'
  return (
    <ConfirmButton
      {...BUTTON}
      label={label}
      aria-label={`${label} ${name}`}
      question={
        draining
          ? `${name} is given new deployments again.`
          : `${name} finishes its deployments and is given no new ones until it is resumed.`
      }
      onConfirm={() => update.mutateAsync({ params: { id }, body: { draining: !draining } })}
    />
  )
}

function Remove({ instance: { id, name, status, active } }: { instance: Item<'listInstances'> }) {
  const [isForced, setForced] = useState(false)
  const remove = useWrite('deleteInstance', 'listInstances')
  // An instance counts as online for the server, but not in lists, from its joining until its first heartbeat.
  const needsForce = status !== 'offline' || active > 0 || remove.error instanceof ConflictError
  return (
    <ConfirmButton
      {...BUTTON}
      label="Remove"
      destroys
      aria-label={`Remove ${name}`}
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
