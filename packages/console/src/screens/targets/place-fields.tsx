import { useState } from 'react'
import { type Concurrency, ConcurrencySelect } from '../../components/concurrency-select.tsx'
import { RecordSelect, TenantSelect } from '../../components/record-select.tsx'

interface Place {
  environment_id: string | null
  tenant_id: string | null
  concurrency: Concurrency
}

const NOWHERE: Place = { environment_id: null, tenant_id: null, concurrency: null }

export const AS_ENVIRONMENT = 'As its environment or the settings say'

/** Environment, tenant and concurrency of a target in a form, and what of it to send. */
export function usePlaceFields(stored: Place = NOWHERE) {
  const [environment, setEnvironment] = useState(stored.environment_id)
  const [tenant, setTenant] = useState(stored.tenant_id)
  const [concurrency, setConcurrency] = useState(stored.concurrency)
  // Only what differs: the server gives a new target of a user with a tenant that tenant.
  const fields = {
    ...(environment === stored.environment_id ? {} : { environment_id: environment }),
    ...(tenant === stored.tenant_id ? {} : { tenant_id: tenant }),
    ...(concurrency === stored.concurrency ? {} : { concurrency }),
  }
  return { fields, inputs: { environment, setEnvironment, tenant, setTenant, concurrency, setConcurrency } }
}

type Inputs = ReturnType<typeof usePlaceFields>['inputs']

export function PlaceFields({ environment, setEnvironment, tenant, setTenant, concurrency, setConcurrency }: Inputs) {
  return (
    <>
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
      <ConcurrencySelect otherwise={AS_ENVIRONMENT} value={concurrency} onChange={setConcurrency} />
    </>
  )
}
