import { type Concurrency, ConcurrencySelect } from '../../components/concurrency-select.tsx'
import type { ProblemAt } from '../../components/field-problem.ts'
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

interface Form {
  values: Place
  set: (changed: Partial<Place>) => void
  problemAt: ProblemAt
}

/** Environment, tenant and concurrency of a target. */
export function placeFields({ values, set, problemAt }: Form) {
  return (
    <>
      <RecordSelect
        kind="environment"
        label="Environment"
        description="Freezes of the environment apply to the target"
        placeholder="No environment"
        value={values.environment_id}
        onChange={(environment_id) => set({ environment_id })}
        error={problemAt('/environment_id')}
      />
      <TenantSelect
        description="Only this tenant sees the target. Without a tenant, everybody does."
        value={values.tenant_id}
        onChange={(tenant_id) => set({ tenant_id })}
        error={problemAt('/tenant_id')}
      />
      <ConcurrencySelect
        otherwise={AS_ENVIRONMENT}
        value={values.concurrency}
        onChange={(concurrency) => set({ concurrency })}
        error={problemAt('/concurrency')}
      />
    </>
  )
}
