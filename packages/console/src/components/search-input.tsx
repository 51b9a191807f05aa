import { TextInput, type TextInputProps } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'

const DEBOUNCE_MS = 250

interface Props extends Omit<TextInputProps, 'value' | 'onChange'> {
  value: string | undefined
  onChange: (value: string | undefined) => void
}

/** A text filter. It reports its text when the user stops typing. */
export function SearchInput({ value = '', onChange, ...input }: Props) {
  const [text, setText] = useState(value)
  const reported = useRef(value)
  const report = useDebouncedCallback((query: string) => {
    reported.current = query
    onChange(query || undefined)
  }, DEBOUNCE_MS)
  // The address changed by itself: a link, or the back button.
  useEffect(() => {
    if (value === reported.current) return
    reported.current = value
    setText(value)
  }, [value])
  return (
    <TextInput
      type="search"
      {...input}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value)
        report(event.currentTarget.value.trim())
      }}
    />
  )
}
