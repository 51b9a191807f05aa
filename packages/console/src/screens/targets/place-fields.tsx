import { type Concurrency, ConcurrencySelect } from '../../components/concurrency-select.tsx'
import { RecordSelect, TenantSelect } from '../../components/record-select.tsx'

interface Place {
  environment_id: string | null
  tenant_id: string | null
  concurrency: Concurrency
}

export const AS_ENVIRONMENT = 'As its environment or the settings say'

export const placeOf = (target: Place | null): Place => ({
  environment_id: target?.environment_id ?? null,
  tenant_id: target?.tenant_id ?? null,
  concurrency: target?.concurrency ?? null,
})

interface Props {
  place: Place
  change: (changed: Partial<Place>) => void
}

/** Environment, tenant and concurrency of a target. */
export function PlaceFields({ place, change }: Props) {
  return (
    <>
      <RecordSelect
        kind="environment"
        label="Environment"
        description="Freezes of the environment apply to the target"
        placeholder="No environment"
        value={place.environment_id}
        onChange={(environment_id) => change({ environment_id })}
      />
      <TenantSelect
        description="Only this tenant sees the target. Without a tenant, everybody does."
        value={place.tenant_id}
        onChange={(tenant_id) => change({ tenant_id })}
      />
      <ConcurrencySelect
        otherwise={AS_ENVIRONMENT}
        value={place.concurrency}
        onChange={(concurrency) => change({ concurrency })}
      />
    </>
  )
}
