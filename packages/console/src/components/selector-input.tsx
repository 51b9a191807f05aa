import { TextInput } from '@mantine/core'
import { formatSelector, parseSelector, type Schema, SelectorSyntaxError } from '@slipway/client'

type Selector = Schema<'InstanceSelector'> | null

export const selectorText = (record: { instance_selector: Selector } | null) =>
  formatSelector(record?.instance_selector ?? null)

/**
 * The field to send for a changed text.
 * @throws SelectorSyntaxError when the text is no selector
 */
export const selectorChange = (text: string | undefined): { instance_selector?: Selector } =>
  text === undefined ? {} : { instance_selector: parseSelector(text) }

function problemOf(text: string): string | null {
  try {
    parseSelector(text)
    return null
  } catch (error) {
    if (!(error instanceof SelectorSyntaxError)) throw error
    return error.message
  }
}

interface Props {
  /** What the selector is of, such as "target". */
  kind: string
  value: string
  onChange: (text: string) => void
  /** What the server says is wrong. */
  error: string | undefined
}

export function SelectorInput({ kind, value, onChange, error }: Props) {
  return (
    <TextInput
      label="Instance selector"
      description={`Labels that an orchestration instance needs to run deployments to this ${kind}. Empty for any instance.`}
      placeholder="zone=a, disk in (ssd,nvme), !spot"
      spellCheck={false}
      autoComplete="off"
      value={value}
      error={problemOf(value) ?? error}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
