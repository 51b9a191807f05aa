import { Modal, NavLink, Stack, TextInput } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useState } from 'react'
import { useRead } from '../api/queries.ts'
import { sourceName } from '../components/source-name.ts'
import { useSession } from '../session/session.tsx'
import { SCREENS } from './navigation.ts'

interface Entry {
  key: string
  label: string
  description: string
  go: () => void
}

const MAX_FOUND = 8

/** Ctrl-K: goes to a screen, or to a deployment or target by its name. */
export function Palette({ opened, onOpen, onClose }: { opened: boolean; onOpen: () => void; onClose: () => void }) {
  useHotkeys([['mod+K', onOpen]], [])
  return (
    <Modal opened={opened} onClose={onClose} title="Go to" size="lg">
      {opened && <Choices onDone={onClose} />}
    </Modal>
  )
}

function Choices({ onDone }: { onDone: () => void }) {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const navigate = useNavigate()
  const { can } = useSession()
  const wanted = text.trim().toLowerCase()
  const searching = wanted.length >= 2
  const deployments = useRead(
    'listDeployments',
    { query: { search: wanted, limit: MAX_FOUND } },
    { enabled: searching && can('deployments:read') },
  )
  const targets = useRead(
    'listTargets',
    { query: { search: wanted, limit: MAX_FOUND } },
    { enabled: searching && can('targets:read') },
  )
  const goTo = (to: string) => () => {
    void navigate({ to })
    onDone()
  }
  const entries: Entry[] = [
    ...SCREENS.filter(
      ({ label, permission }) => label.toLowerCase().includes(wanted) && (permission === null || can(permission)),
    ).map(({ path, label }) => ({ key: path, label, description: 'Screen', go: goTo(path) })),
    ...(deployments.data?.data ?? []).map((deployment) => ({
      key: deployment.id,
      label: sourceName(deployment),
      description: `Deployment ${deployment.id}, ${deployment.state}`,
      go: goTo(`/deployments/${deployment.id}`),
    })),
    ...(targets.data?.data ?? []).map((target) => ({
      key: target.id,
      label: target.name,
      description: 'Target',
      go: goTo(`/targets/${target.id}`),
    })),
  ]
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setChosen((at) => Math.max(0, Math.min(entries.length - 1, at + step)))
    }
    if (event.key === 'Enter') entries[chosen]?.go()
  }
  return (
    <Stack gap="xs">
      <TextInput
        aria-label="Screen, deployment or target"
        placeholder="Screen, deployment or target"
        data-autofocus
        value={text}
        onKeyDown={onKeyDown}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setChosen(0)
        }}
      />
      {entries.map(({ key, label, description, go }, index) => (
        <NavLink
          key={key}
          component="button"
          label={label}
          description={description}
          active={index === chosen}
          onClick={go}
        />
      ))}
    </Stack>
  )
}
