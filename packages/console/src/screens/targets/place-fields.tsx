import { useState } from 'react'
import { RecordSelect, TenantSelect } from '../../components/record-select.tsx'

interface Place {
  environment_id: string | null
  tenant_id: string | null
}

const NOWHERE: Place = { environment_id: null, tenant_id: null }

/** Environment and tenant of a target in a form, and what of it to send. */
export function usePlaceFields(stored: Place = NOWHERE) {
  const [environment, setEnvironment] = useState(stored.environment_id)
  const [tenant, setTenant] = useState(stored.tenant_id)
  // Only what differs: the server gives a new target of a user with a tenant that tenant.
  const fields = {
    ...(environment === stored.environment_id ? {} : { environment_id: environment }),
    ...(tenant === stored.tenant_id ? {} : { tenant_id: tenant }),
  }
  return { fields, inputs: { environment, setEnvironment, tenant, setTenant } }
}

type Inputs = ReturnType<typeof usePlaceFields>['inputs']

export function PlaceFields({ environment, setEnvironment, tenant, setTenant }: Inputs) {
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
    </>
  )
}
