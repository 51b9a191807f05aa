import { Autocomplete } from '@mantine/core'
import { useEffect, useState } from 'react'

interface Props {
  label: string
  placeholder: string
  /** Offered while the user types. */
  suggestions?: string[] | undefined
  value: string | undefined
  onChange: (value: string | undefined) => void
}

/** A filter that only a whole text satisfies. It takes effect by a choice, on Enter, or when it loses the focus. */
export function WholeInput({ suggestions = [], value = '', onChange, ...input }: Props) {
  const [text, setText] = useState(value)
  // The address changed by itself: a link, or the back button.
  useEffect(() => setText(value), [value])
  const report = (typed: string) => {
    const entered = typed.trim()
    if (entered !== value) onChange(entered || undefined)
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        report(text)
      }}
    >
      <Autocomplete
        {...input}
        data={suggestions}
        maxDropdownHeight={240}
        value={text}
        onChange={setText}
        onOptionSubmit={report}
        onBlur={() => report(text)}
      />
    </form>
  )
}
