import { Alert, Button, Group, Stack, Switch, Text } from '@mantine/core'
import { ConflictError } from '@slipway/client'
import { counted } from '../../components/counted.ts'
import type { Previewed } from './previewed.ts'

interface Props {
  previewed: Previewed
  busy: boolean
  onChange: (isOn: boolean) => void
}

/** How many targets have these versions and values already, and the switch that leaves them out. */
export function OnlyChanged({ previewed: { request, plan }, busy, onChange }: Props) {
  const isOn = request.only_changed === true
  const unchanged = plan.unchanged_targets
  if (!isOn && unchanged.length === 0) return null
  return (
    <Group gap="sm">
      <Switch
        label="Only targets that change"
        checked={isOn}
        disabled={busy}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <Text size="sm" role="status">
        {isOn ? leftOut(unchanged) : `${counted(unchanged.length, 'target')} with the same versions and values already`}
      </Text>
    </Group>
  )
}

const MAX_NAMED = 5

function leftOut(unchanged: readonly { name: string }[]): string {
  if (unchanged.length === 0) return 'No target is left out'
  const names = unchanged.slice(0, MAX_NAMED).map(({ name }) => name)
  const more = unchanged.length - names.length
  return `${counted(unchanged.length, 'target')} left out: ${names.join(', ')}${more > 0 ? ` and ${more.toLocaleString()} more` : ''}`
}

/** The targets that a preview with `only_changed` left out, if none was left; null for another refusal. */
export function unchangedTargets(error: Error | null): unknown[] | null {
  if (!(error instanceof ConflictError)) return null
  const ids = error.details['unchanged_target_ids']
  return Array.isArray(ids) ? ids : null
}

interface NothingProps {
  count: number
  busy: boolean
  onPreviewAll: () => void
}

export function NothingToDeploy({ count, busy, onPreviewAll }: NothingProps) {
  return (
    <Alert color="blue" title="Nothing to deploy. Nothing has started." role="alert">
      <Stack gap="xs" align="start">
        <Text size="sm">
          {count === 1 ? 'The target has' : `All ${counted(count, 'target')} have`} these versions and values already.
        </Text>
        <Button variant="default" loading={busy} onClick={onPreviewAll}>
          Preview all targets
        </Button>
      </Stack>
    </Alert>
  )
}
