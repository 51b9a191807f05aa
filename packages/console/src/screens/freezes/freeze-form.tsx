import type { Item } from '@slipway/client'
import { useWrite } from '../../api/queries.ts'
import { NAME_FIELDS, namesOf, RecordForm } from '../../components/record-form.tsx'
import { RecordSelect, TenantSelect } from '../../components/record-select.tsx'
import type { RightObject } from '../../session/right-question.ts'
import { freezeTimeFields } from './freeze-time-fields.tsx'
import { changedTimeFields, timeFields, timesOf } from './freeze-times.ts'

type Scope = Pick<Item<'listFreezes'>, 'environment_id' | 'solution_id'>

/** What a right to create or change a freeze is asked for. */
export const frozenBy = ({ environment_id, solution_id }: Scope): RightObject => ({
  kind: 'freeze',
  environment_id,
  solution_id,
})

interface Props {
  /** Null for a new one. */
  freeze: Item<'listFreezes'> | null
  onClose: () => void
}

export function FreezeForm({ freeze, onClose }: Props) {
  const create = useWrite('createFreeze', 'listFreezes')
  const update = useWrite('updateFreeze', 'listFreezes')
  return (
    <RecordForm
      kind="freeze"
      stored={freeze}
      initial={{
        ...namesOf(freeze),
        ...timesOf(freeze),
        tenant_id: freeze?.tenant_id ?? null,
        environment_id: freeze?.environment_id ?? null,
        solution_id: freeze?.solution_id ?? null,
      }}
      fields={[
        ...NAME_FIELDS,
        ({ values, set, problemAt }) =>
          freezeTimeFields({ times: values, change: set, problem: (name) => problemAt(`/${name}`) }),
        ({ bind }) => (
          <TenantSelect
            description="Freezes deployments that name this tenant, or that select a target of it"
            {...bind('tenant_id')}
          />
        ),
        ({ bind }) => (
          <RecordSelect
            kind="environment"
            label="Environment"
            description="Freezes deployments that name this environment, or that select a target of it"
            placeholder="Any environment"
            {...bind('environment_id')}
          />
        ),
        ({ bind }) => (
          <RecordSelect
            kind="solution"
            label="Solution"
            description="Freezes deployments of this solution only. Without tenant, environment and solution, the freeze applies to every deployment."
            placeholder="Any solution"
            {...bind('solution_id')}
          />
        ),
      ]}
      asks={(values) => ({ permission: freeze ? 'freezes:update' : 'freezes:create', object: frozenBy(values) })}
      writes={[create, update]}
      save={(given, changed, expected) => {
        const { start, end, zone, recurrence, ...others } = changed
        const done = { onSuccess: onClose }
        if (freeze) {
          const body = { ...others, ...changedTimeFields(given, changed), ...expected }
          update.mutate({ params: { id: freeze.id }, body }, done)
        } else create.mutate({ body: { ...others, ...timeFields(given), name: given.name } }, done)
      }}
      onClose={onClose}
    />
  )
}
