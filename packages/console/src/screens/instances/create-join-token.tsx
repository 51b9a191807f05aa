import { Select, TagsInput, TextInput } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { FormModal } from '../../components/form-modal.tsx'
import { TenantSelect } from '../../components/record-select.tsx'
import { parseLabel } from './label-text.ts'

interface Props {
  onCreated: (grant: Answer<'createInstanceGrant'>) => void
  onClose: () => void
}

const LIFETIMES = [
  { value: '900', label: '15 minutes' },
  { value: '3600', label: '1 hour' },
  { value: '28800', label: '8 hours' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
]

export function CreateJoinToken({ onCreated, onClose }: Props) {
  const create = useWrite('createInstanceGrant', 'listInstanceGrants')
  const [uses, setUses] = useState('1')
  const [lifetime, setLifetime] = useState('3600')
  const [labels, setLabels] = useState<string[]>([])
  const [tenant, setTenant] = useState<string | null>(null)
  const submit = () => {
    const body = {
      uses: Number(uses),
      expires_in_seconds: Number(lifetime),
      labels: Object.fromEntries(labels.map(parseLabel)),
      tenant_id: tenant,
    }
    const onSuccess = (grant: Answer<'createInstanceGrant'>) => {
      onCreated(grant)
      onClose()
    }
    create.mutate({ body }, { onSuccess })
  }
  return (
    <FormModal title="New join token" submitLabel="Create" writes={[create]} onSubmit={submit} onClose={onClose}>
      {(problemAt) => (
        <>
          <TextInput
            label="Uses"
            description="How many instances can join with the token"
            type="number"
            min={1}
            max={1_000}
            required
            data-autofocus
            value={uses}
            onChange={(event) => setUses(event.currentTarget.value)}
            error={problemAt('/uses')}
          />
          <Select
            label="Valid for"
            required
            allowDeselect={false}
            data={LIFETIMES}
            value={lifetime}
            onChange={(value) => value && setLifetime(value)}
            error={problemAt('/expires_in_seconds')}
          />
          <TagsInput
            label="Allowed labels"
            description="key=value allows this value, key allows any value. Press Enter after each one. An instance that claims another label is refused."
            acceptValueOnBlur
            value={labels}
            onChange={setLabels}
            error={problemAt('/labels')}
          />
          <TenantSelect
            description="Instances that join with the token run only deployments of this tenant. Without a tenant, they run all."
            value={tenant}
            onChange={setTenant}
            error={problemAt('/tenant_id')}
          />
        </>
      )}
    </FormModal>
  )
}
