import { Button, Code, Group, Textarea, TextInput } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { StateBadge } from '../../components/state-badge.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'
import { FormModal } from '../administration/form-modal.tsx'
import { TenantName, TenantSelect } from '../administration/tenant.tsx'
import { RecordName, RecordSelect } from '../environments/record-select.tsx'
import { Facts, Section } from './section.tsx'

interface Props {
  target: Answer<'getTarget'>
}

export function TargetFacts({ target }: Props) {
  const { can } = useSession()
  const [isChanging, setChanging] = useState(false)
  return (
    <Section
      title="Target"
      action={
        can('targets:update') && (
          <Button size="compact-xs" variant="default" aria-label="Change the target" onClick={() => setChanging(true)}>
            Change
          </Button>
        )
      }
    >
      <Facts
        facts={[
          [
            'Status',
            <Group gap={4} key="status">
              <StateBadge state={target.status} />
              {!target.enabled && <StateBadge state="disabled" />}
            </Group>,
          ],
          ['Last seen', <TimeAgo key="seen" at={target.last_seen_at} />],
          ['Description', target.description ?? '–'],
          ['Environment', <RecordName key="environment" kind="environment" id={target.environment_id} />],
          ['Tenant', <TenantName key="tenant" id={target.tenant_id} />],
          ['Id', <Code key="id">{target.id}</Code>],
          ['Short id', <Code key="sqid">{target.sqid}</Code>],
          ['Created', <TimeAgo key="created" at={target.created_at} />],
        ]}
      />
      {isChanging && <ChangeTarget target={target} onClose={() => setChanging(false)} />}
    </Section>
  )
}

function ChangeTarget({ target, onClose }: Props & { onClose: () => void }) {
  const update = useWrite('updateTarget', 'getTarget', 'listTargets')
  const [name, setName] = useState(target.name)
  const [description, setDescription] = useState(target.description ?? '')
  const [environment, setEnvironment] = useState(target.environment_id)
  const [tenant, setTenant] = useState(target.tenant_id)
  const submit = () => {
    const moved = {
      ...(environment === target.environment_id ? {} : { environment_id: environment }),
      ...(tenant === target.tenant_id ? {} : { tenant_id: tenant }),
    }
    const body = { name, description: description || null, ...moved }
    update.mutate({ params: { id: target.id }, body }, { onSuccess: onClose })
  }
  return (
    <FormModal title={`Change ${target.name}`} submitLabel="Save" writes={[update]} onSubmit={submit} onClose={onClose}>
      <TextInput label="Name" required value={name} onChange={(event) => setName(event.currentTarget.value)} />
      <Textarea
        label="Description"
        autosize
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      <RecordSelect
        kind="environment"
        label="Environment"
        description="Freezes of the environment apply to the target"
        placeholder="No environment"
        value={environment}
        onChange={setEnvironment}
      />
      <TenantSelect
        description="Only this tenant sees the target. Without a tenant, everybody does."
        value={tenant}
        onChange={setTenant}
      />
    </FormModal>
  )
}
