import { NumberInput } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useWrite } from '../../api/queries.ts'
import { ConcurrencySelect } from '../../components/concurrency-select.tsx'
import { NAME_FIELDS, namesOf, RecordForm } from '../../components/record-form.tsx'
import { TenantSelect } from '../../components/record-select.tsx'
import { SelectorInput, selectorChange, selectorText } from '../../components/selector-input.tsx'
import { rowsOf, variablesChange } from '../../components/variables.ts'
import { VariablesEditor } from '../../components/variables-editor.tsx'
import { draftOf, type RulesDraft, rulesOf } from './rules-draft.ts'
import { RulesFields } from './rules-fields.tsx'

interface Props {
  /** Null for a new one. */
  environment: Item<'listEnvironments'> | null
  onClose: () => void
}

export function EnvironmentForm({ environment, onClose }: Props) {
  const create = useWrite('createEnvironment', 'listEnvironments')
  const update = useWrite('updateEnvironment', 'listEnvironments', 'getEnvironment')
  return (
    <RecordForm
      kind="environment"
      stored={environment}
      size="xl"
      initial={{
        ...namesOf(environment),
        position: environment?.position ?? null,
        tenant_id: environment?.tenant_id ?? null,
        concurrency: environment?.concurrency ?? null,
        selector: selectorText(environment),
        rows: rowsOf(environment),
        rules: draftOf(environment?.rules ?? null),
      }}
      fields={[
        ...NAME_FIELDS,
        ({ bind }) => <PositionInput {...bind('position')} />,
        ({ bind }) => (
          <TenantSelect
            description="Only this tenant sees the environment. Without a tenant, everybody does."
            {...bind('tenant_id')}
          />
        ),
        ({ bind }) => <ConcurrencySelect otherwise="As the settings say" {...bind('concurrency')} />,
        ({ bind }) => <SelectorInput kind="environment" {...bind('selector', '/instance_selector')} />,
        ({ bind }) => <RulesFields {...bind('rules')} />,
        ({ bind }) => <VariablesEditor {...bind('rows', '/variables')} />,
      ]}
      writes={[create, update]}
      save={({ name }, { selector, rows, rules, ...changed }, expected) => {
        const body = { ...changed, ...selectorChange(selector), ...variablesChange(rows), ...rulesChange(rules) }
        const done = { onSuccess: onClose }
        if (environment) update.mutate({ params: { id: environment.id }, body: { ...body, ...expected } }, done)
        else create.mutate({ body: { ...body, name } }, done)
      }}
      onClose={onClose}
    />
  )
}

const rulesChange = (rules: RulesDraft | undefined) => (rules === undefined ? {} : { rules: rulesOf(rules) })

interface PositionProps {
  value: number | null
  onChange: (position: number | null) => void
  error: string | undefined
}

function PositionInput({ value, onChange, error }: PositionProps) {
  return (
    <NumberInput
      label="Position"
      description="The place of the stage in lists and in the matrix: smaller numbers come first. Empty: after all numbers."
      placeholder="30"
      min={0}
      max={1_000_000}
      allowDecimal={false}
      value={value ?? ''}
      onChange={(given) => onChange(given === '' ? null : Number(given))}
      error={error}
    />
  )
}
