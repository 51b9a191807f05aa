import { Anchor, Fieldset, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core'
import { ErrorAlert } from '../../components/error-alert.tsx'
import type { ChangeForm, Form } from './form.ts'
import { PairRows } from './pair-rows.tsx'
import type { PlannedForm } from './planned-form.ts'
import { VariableField } from './variable-field.tsx'
import { askedAgain, undeclaredValues, type Variable } from './variable-values.ts'

interface Props {
  form: Form
  onChange: ChangeForm
  planned: PlannedForm
  /** Why the server refused the request. */
  error: Error | null
}

/** An input for each variable that the source declares, and rows for others. */
export function VariableFields({ form, onChange, planned: { declared, version }, error }: Props) {
  const variables = declared.data ?? []
  const asked = askedAgain(form)
  return (
    <Fieldset legend="Variables">
      <Stack>
        {declared.error && <ErrorAlert error={declared.error} />}
        {declared.isLoading && <Skeleton h={36} aria-label="Loading the variables" />}
        {form.sourceId === null && <Text size="sm">Choose a source to see its variables.</Text>}
        {declared.data?.length === 0 && <Text size="sm">Version {version} declares no variables.</Text>}
        <SimpleGrid cols={{ base: 1, sm: 2 }} verticalSpacing="sm">
          {variables.map((variable) => (
            <VariableField
              key={variable.name}
              variable={variable}
              value={form.values[variable.name]}
              isAsked={asked.includes(variable.name)}
              onLeaveOut={() => onChange({ asked: form.asked.filter((name) => name !== variable.name) })}
              error={error}
              onChange={(value) => onChange({ values: { ...form.values, [variable.name]: value } })}
            />
          ))}
        </SimpleGrid>
        <RepeatedValues form={form} variables={variables} onChange={onChange} />
        <PairRows
          rows={form.otherVariables}
          onChange={(rows) => onChange({ otherVariables: rows })}
          keyLabel="Name of the variable"
          valueLabel="Text"
          addLabel="Add another variable"
        />
      </Stack>
    </Fieldset>
  )
}

/** Values of the earlier deployment without a field of their own. */
function RepeatedValues({
  form,
  variables,
  onChange,
}: Pick<Props, 'form' | 'onChange'> & { variables: readonly Variable[] }) {
  const names = Object.keys(undeclaredValues(form, variables))
  if (names.length === 0) return null
  const leaveOut = () =>
    onChange({ repeated: Object.fromEntries(Object.entries(form.repeated).filter(([name]) => !names.includes(name))) })
  return (
    <Text size="sm">
      Repeats values that this version does not declare: {names.join(', ')}.{' '}
      <Anchor component="button" type="button" size="sm" onClick={leaveOut}>
        Leave these values out
      </Anchor>
    </Text>
  )
}
