import { Modal, NavLink, ScrollArea, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue, useHotkeys } from '@mantine/hooks'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { ErrorAlert } from '../components/error-alert.tsx'
import { usePaletteEntries } from './palette-entries.ts'

interface Props {
  opened: boolean
  onOpen: () => void
  onClose: () => void
  /** Shows the keyboard shortcuts. */
  onHelp: () => void
}

/** Ctrl-K: goes to a screen, or to a record by its name, or does something. */
export function Palette({ opened, onOpen, onClose, onHelp }: Props) {
  // Also from an input, where someone may be typing.
  useHotkeys([['mod+K', onOpen]], [])
  return (
    <Modal opened={opened} onClose={onClose} title="Go to" size="lg">
      {opened && <Choices onDone={onClose} onHelp={onHelp} />}
    </Modal>
  )
}

const SEARCH_DELAY_MS = 150
const idOf = (index: number) => `palette-${index}`

function Choices({ onDone, onHelp }: { onDone: () => void; onHelp: () => void }) {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const [wanted] = useDebouncedValue(text, SEARCH_DELAY_MS)
  const { entries, error, isSearching } = usePaletteEntries(text, wanted, onHelp)
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    list.current?.querySelector(`#${idOf(chosen)}`)?.scrollIntoView({ block: 'nearest' })
  }, [chosen])

  const act = (index: number) => {
    const entry = entries[index]
    if (entry === undefined) return
    onDone()
    entry.act()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setChosen((at) => Math.max(0, Math.min(entries.length - 1, at + step)))
    }
    if (event.key === 'Enter') act(chosen)
  }
  return (
    <Stack gap="xs">
      <TextInput
        aria-label="Screen, deployment or target"
        placeholder="A screen, deployment, target or source, or what to do"
        role="combobox"
        aria-expanded
        aria-controls="palette-list"
        aria-activedescendant={entries.length > 0 ? idOf(chosen) : undefined}
        data-autofocus
        value={text}
        onKeyDown={onKeyDown}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setChosen(0)
        }}
      />
      <ScrollArea.Autosize mah="60vh">
        <div id="palette-list" role="listbox" aria-label="Choices" ref={list}>
          {entries.map(({ key, label, description }, index) => (
            <NavLink
              key={key}
              id={idOf(index)}
              component="button"
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen}
              py={4}
              label={label}
              description={description}
              active={index === chosen}
              styles={{ description: { opacity: 1, color: 'inherit' } }}
              onClick={() => act(index)}
            />
          ))}
        </div>
      </ScrollArea.Autosize>
      {error && <ErrorAlert error={error} />}
      {entries.length === 0 && !error && (
        <Text size="sm">{isSearching ? 'Searching' : 'Nothing has this in its name.'}</Text>
      )}
    </Stack>
  )
}
