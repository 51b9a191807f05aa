import { Alert, Anchor, Button, Group, List, Stack, Text, TextInput } from '@mantine/core'
import type { FrozenError } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { TimeAgo } from '../../components/time-ago.tsx'

interface Props {
  error: FrozenError
  busy: boolean
  onOverride: (reason: string) => void
}

/** The freezes that refuse the deployment, and the override for those who may. */
export function FrozenAlert({ error, busy, onOverride }: Props) {
  const [reason, setReason] = useState('')
  return (
    <Alert color="orange" title="Frozen. Nothing has started." role="alert">
      <Stack gap="sm">
        <List size="sm">
          {error.freezes.map(({ id, name, ends_at, target_ids }) => (
            <List.Item key={id}>
              {name} ends <TimeAgo at={ends_at} />
              {target_ids !== undefined && `, applies to ${target_ids.length} of the targets`}
            </List.Item>
          ))}
        </List>
        <Anchor component={Link} to="/freezes" size="sm" c="inherit" underline="always">
          Show all freezes
        </Anchor>
        {error.canOverride ? (
          <Group align="end">
            <TextInput
              flex={1}
              label="Reason for the override"
              description="The audit log keeps it"
              required
              value={reason}
              onChange={(event) => setReason(event.currentTarget.value)}
            />
            <Button
              color="red.9"
              loading={busy}
              disabled={reason.trim() === ''}
              onClick={() => onOverride(reason.trim())}
            >
              Override and start
            </Button>
          </Group>
        ) : (
          <Text size="sm">Only an administrator can override a freeze.</Text>
        )}
      </Stack>
    </Alert>
  )
}
