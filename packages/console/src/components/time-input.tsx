import { TextInput } from '@mantine/core'

interface Props {
  label: string
  description?: string
  error?: string | undefined
  /** With its zone, as the API takes it. */
  value: string | undefined
  onChange: (value: string | undefined) => void
}

/** A moment in the time zone of the browser. It takes effect when the input loses the focus, or on Enter. */
export function TimeInput({ value, onChange, ...input }: Props) {
  const report = (text: string) => {
    const next = text === '' ? undefined : new Date(text).toISOString()
    if (next !== value) onChange(next)
  }
  return (
    <TextInput
      // The input keeps what is typed, until the address holds something else.
      key={value ?? ''}
      type="datetime-local"
      step={1}
      {...input}
      defaultValue={toLocalText(value)}
      onBlur={(event) => report(event.currentTarget.value)}
      onKeyDown={(event) => event.key === 'Enter' && report(event.currentTarget.value)}
    />
  )
}

function toLocalText(value: string | undefined): string {
  const at = new Date(value ?? '')
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}
