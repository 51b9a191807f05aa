import type { Item } from '@slipway/client'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { ConcurrencySelect } from '../../components/concurrency-select.tsx'
import { TenantSelect } from '../../components/record-select.tsx'
import { VariableRecordForm } from '../../components/variable-record-form.tsx'

interface Props {
  /** Null for a new one. */
  environment: Item<'listEnvironments'> | null
  onClose: () => void
}

export function EnvironmentForm({ environment, onClose }: Props) {
  const create = useWrite('createEnvironment', 'listEnvironments')
  const update = useWrite('updateEnvironment', 'listEnvironments', 'getEnvironment')
  const before = environment?.tenant_id ?? null
  const [tenant, setTenant] = useState(before)
  const [concurrency, setConcurrency] = useState(environment?.concurrency ?? null)
  const done = { onSuccess: onClose }
  return (
    <VariableRecordForm
      kind="environment"
      record={environment}
      writes={[create, update]}
      save={(fields) => {
        const body = { ...fields, concurrency, ...(tenant === before ? {} : { tenant_id: tenant }) }
        if (environment) update.mutate({ params: { id: environment.id }, body }, done)
        else create.mutate({ body }, done)
      }}
      onClose={onClose}
    >
      <TenantSelect
        description="Only this tenant sees the environment. Without a tenant, everybody does."
        value={tenant}
        onChange={setTenant}
      />
      <ConcurrencySelect otherwise="As the settings say" value={concurrency} onChange={setConcurrency} />
    </VariableRecordForm>
  )
}
