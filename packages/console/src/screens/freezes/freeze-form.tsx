import type { Item } from '@slipway/client'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { FormModal } from '../../components/form-modal.tsx'
import { NameFields, useNameFields } from '../../components/name-fields.tsx'
import { RecordSelect, TenantSelect } from '../../components/record-select.tsx'
import { FreezeTimeFields } from './freeze-time-fields.tsx'
import { useFreezeTimes } from './freeze-times.ts'

interface Props {
  /** Null for a new one. */
  freeze: Item<'listFreezes'> | null
  onClose: () => void
}

export function FreezeForm({ freeze, onClose }: Props) {
  const create = useWrite('createFreeze', 'listFreezes')
  const update = useWrite('updateFreeze', 'listFreezes')
  const named = useNameFields(freeze)
  const [tenant, setTenant] = useState(freeze?.tenant_id ?? null)
  const [environment, setEnvironment] = useState(freeze?.environment_id ?? null)
  const [solution, setSolution] = useState(freeze?.solution_id ?? null)
  const { times, change, fields, changedFields } = useFreezeTimes(freeze)

  const submit = () => {
    const scope = {
      ...(tenant === (freeze?.tenant_id ?? null) ? {} : { tenant_id: tenant }),
      ...(environment === (freeze?.environment_id ?? null) ? {} : { environment_id: environment }),
      ...(solution === (freeze?.solution_id ?? null) ? {} : { solution_id: solution }),
    }
    const done = { onSuccess: onClose }
    if (freeze)
      update.mutate({ params: { id: freeze.id }, body: { ...named.fields, ...scope, ...changedFields() } }, done)
    else create.mutate({ body: { ...named.fields, ...scope, ...fields() } }, done)
  }

  return (
    <FormModal
      title={freeze ? `Change ${freeze.name}` : 'New freeze'}
      submitLabel={freeze ? 'Save' : 'Create'}
      writes={[create, update]}
      onSubmit={submit}
      onClose={onClose}
    >
      <NameFields {...named.inputs} />
      <FreezeTimeFields times={times} change={change} />
      <TenantSelect
        description="Freezes deployments that name this tenant, or that select a target of it"
        value={tenant}
        onChange={setTenant}
      />
      <RecordSelect
        kind="environment"
        label="Environment"
        description="Freezes deployments that name this environment, or that select a target of it"
        placeholder="Any environment"
        value={environment}
        onChange={setEnvironment}
      />
      <RecordSelect
        kind="solution"
        label="Solution"
        description="Freezes deployments of this solution only. Without tenant, environment and solution, the freeze applies to every deployment."
        placeholder="Any solution"
        value={solution}
        onChange={setSolution}
      />
    </FormModal>
  )
}
