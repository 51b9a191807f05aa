import { Anchor, type InputWrapperProps, PasswordInput, Select, TagsInput, Textarea, TextInput } from '@mantine/core'
import { fieldProblem } from '../../components/field-problem.ts'
import type { RawValue } from './form.ts'
import { isList, type Variable, valueProblem } from './variable-values.ts'

interface Props {
  variable: Variable
  value: RawValue | undefined
  onChange: (value: RawValue) => void
  /** Whether it is a secret of the deployment that filled the form, and is not typed again yet. */
  isAsked: boolean
  onLeaveOut: () => void
  /** Why the server refused the request. */
  error: Error | null
}

const WRAPPER_ORDER: NonNullable<InputWrapperProps['inputWrapperOrder']> = ['label', 'input', 'description', 'error']

/** The input that fits the type of a variable. */
export function VariableField({ variable, value, onChange, isAsked, onLeaveOut, error }: Props) {
  const { name, type = 'string', sensitive, required } = variable
  const text = typeof value === 'string' ? value : ''
  const common = {
    label: name,
    description: describe(variable),
    // Side by side, inputs are at one height only when the descriptions are below.
    inputWrapperOrder: WRAPPER_ORDER,
    placeholder: defaultText(variable),
    // The mark only. A tenant, an environment or a target can give a required value, so the server decides.
    withAsterisk: required === true && variable.default === undefined,
    error:
      (isAsked ? <AskedAgain name={name} onLeaveOut={onLeaveOut} /> : null) ??
      valueProblem(variable, value) ??
      fieldProblem(error, `/variables/${name}`) ??
      fieldProblem(error, `/prompted_values/${name}`),
  }
  if (sensitive) {
    return (
      <PasswordInput
        {...common}
        autoComplete="new-password"
        value={text}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    )
  }
  if (type === 'boolean') {
    return (
      <Select
        {...common}
        data={['true', 'false']}
        clearable
        clearButtonProps={{ 'aria-label': `Clear ${name}` }}
        value={text === '' ? null : text}
        onChange={(chosen) => onChange(chosen ?? '')}
      />
    )
  }
  if (isList(variable)) {
    return (
      <TagsInput
        {...common}
        clearable
        clearButtonProps={{ 'aria-label': `Clear ${name}` }}
        acceptValueOnBlur
        splitChars={[]}
        value={Array.isArray(value) ? value : []}
        onChange={onChange}
      />
    )
  }
  if (type === 'json') {
    return <Textarea {...common} autosize value={text} onChange={(event) => onChange(event.currentTarget.value)} />
  }
  return (
    <TextInput
      {...common}
      inputMode={type === 'number' ? 'decimal' : 'text'}
      value={text}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

function AskedAgain({ name, onLeaveOut }: { name: string; onLeaveOut: () => void }) {
  return (
    <>
      The last deployment had a secret here. Type it again, or{' '}
      <Anchor component="button" type="button" size="xs" onClick={onLeaveOut} aria-label={`Leave ${name} out`}>
        leave it out
      </Anchor>
      .
    </>
  )
}

const TYPE_NAMES = { string: 'Text', number: 'Number', boolean: 'true or false', json: 'JSON' }

function describe(variable: Variable): string {
  const { type = 'string', description, sensitive, prompted } = variable
  const kind = isList(variable) ? 'List: Enter adds an entry' : TYPE_NAMES[type]
  const notes = [kind, ...(sensitive ? ['secret'] : []), ...(prompted ? ['asked at each deployment'] : [])]
  return `${description ? `${description} · ` : ''}${notes.join(', ')}`
}

function defaultText({ default: value, sensitive }: Variable): string {
  if (value === undefined) return ''
  if (sensitive) return 'Default: a stored secret'
  return `Default: ${typeof value === 'string' ? value : JSON.stringify(value)}`
}
