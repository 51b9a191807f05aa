import '@mantine/spotlight/styles.css'
import { Box } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { createSpotlight, Spotlight, type SpotlightStore, useSpotlight } from '@mantine/spotlight'
import { useEffect, useState } from 'react'
import { ErrorAlert } from '../components/error-alert.tsx'
import { usePaletteEntries } from './palette-entries.ts'

interface Props {
  /** How often it was asked for. Each time it opens. */
  asked: number
  /** Shows the keyboard shortcuts. */
  onHelp: () => void
}

/** Ctrl-K: goes to a screen, or to a record by its name, or does something. */
export function Palette({ asked, onHelp }: Props) {
  // Not Mantine's global palette: the next user must not find what the one before has typed.
  const [[store, { open }]] = useState(createSpotlight)
  const [text, setText] = useState('')
  // biome-ignore lint/correctness/useExhaustiveDependencies: it opens each time
  useEffect(() => open(), [asked, open])
  return (
    <Spotlight.Root
      store={store}
      query={text}
      onQueryChange={setText}
      // The frame opens it: this code may not be there yet.
      shortcut={null}
      attributes={{ content: { 'aria-label': 'Go to' } }}
      // Mantine's dimmed description of the selected entry is too pale for WCAG AA.
      styles={{ actionDescription: { opacity: 1 } }}
    >
      <Choices store={store} text={text} onHelp={onHelp} />
    </Spotlight.Root>
  )
}

const SEARCH_DELAY_MS = 150
const LIST_ID = 'palette-list'
const idOf = (index: number) => `palette-${index}`

interface ChoicesProps {
  store: SpotlightStore
  text: string
  onHelp: () => void
}

function Choices({ store, text, onHelp }: ChoicesProps) {
  const [searched] = useDebouncedValue(text, SEARCH_DELAY_MS)
  const { entries, error, isSearching } = usePaletteEntries(text, searched, onHelp)
  const { selected } = useSpotlight(store)
  // Mantine selects no entry of a list that opens, or that was empty. Enter acts on the first one.
  useEffect(() => {
    if (selected < 0) store.updateState((state) => ({ ...state, selected: 0 }))
  }, [selected, store])
  return (
    <>
      <Spotlight.Search
        aria-label="Screen, deployment or target"
        placeholder="A screen, deployment, target or source, or what to do"
        role="combobox"
        aria-expanded
        aria-controls={LIST_ID}
        aria-activedescendant={entries.length > 0 ? idOf(selected) : undefined}
        data-autofocus
      />
      {entries.length > 0 && (
        <Spotlight.ActionsList id={LIST_ID} role="listbox" aria-label="Choices">
          {entries.map(({ key, label, description, act }, index) => (
            <Spotlight.Action
              key={key}
              // Mantine does not pass an id to the element.
              ref={(element) => element?.setAttribute('id', idOf(index))}
              role="option"
              aria-selected={index === selected}
              // Mantine marks the selected element itself, but not in a list that changes afterwards.
              data-selected={index === selected || undefined}
              label={label}
              description={description}
              onClick={act}
            />
          ))}
        </Spotlight.ActionsList>
      )}
      {error && (
        <Box p="md">
          <ErrorAlert error={error} />
        </Box>
      )}
      {entries.length === 0 && !error && (
        <Spotlight.Empty>{isSearching ? 'Searching' : 'Nothing has this in its name.'}</Spotlight.Empty>
      )}
    </>
  )
}
