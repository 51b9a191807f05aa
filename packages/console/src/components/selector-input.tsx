import { TextInput } from '@mantine/core'
import { formatSelector, parseSelector, type Schema, SelectorSyntaxError } from '@slipway/client'
import { useState } from 'react'

type Selector = Schema<'InstanceSelector'> | null

/** The selector of instances of a record in a form, and what of it to send. */
export function useSelector(record: { instance_selector: Selector } | null) {
  const before = formatSelector(record?.instance_selector ?? null)
  const [text, setText] = useState(before)
  const read = readSelector(text)
  return {
    inputs: { value: text, error: read.problem, onChange: setText },
    /** Null while the text is no selector. */
    fieldsToSend(): { instance_selector?: Selector } | null {
      if (read.problem !== null) return null
      return text === before ? {} : { instance_selector: read.selector }
    },
  }
}

function readSelector(text: string): { selector: Selector; problem: string | null } {
  try {
    return { selector: parseSelector(text), problem: null }
  } catch (error) {
    if (!(error instanceof SelectorSyntaxError)) throw error
    return { selector: null, problem: error.message }
  }
}

interface Props {
  /** What the selector is of, such as "target". */
  kind: string
  value: string
  error: string | null
  onChange: (text: string) => void
}

export function SelectorInput({ kind, value, error, onChange }: Props) {
  return (
    <TextInput
      label="Instance selector"
      description={`Labels that an orchestration instance needs to run deployments to this ${kind}. Empty for any instance.`}
      placeholder="zone=a, disk in (ssd,nvme), !spot"
      spellCheck={false}
      autoComplete="off"
      value={value}
      error={error}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
