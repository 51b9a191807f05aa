import { Alert, Button, Checkbox, Group, Stack, TextInput } from '@mantine/core'
import type { Schema } from '@slipway/client'
import { useState } from 'react'
import type { Override } from '../../components/refusing.ts'

export type OverrideFields = Pick<Schema<'CreateDeployment'>, 'override_freeze' | 'override_rules' | 'override_reason'>

const LABELS: Record<Override, string> = {
  freeze: 'Override the freezes',
  rules: 'Override the rules of environments: approvals, windows and promotion',
}

interface Props {
  /** Those that the user may choose. */
  available: readonly Override[]
  /** Those without which the server refuses the request. */
  needed: readonly Override[]
  busy: boolean
  onOverride: (fields: OverrideFields) => void
}

/** Starts the deployment in spite of freezes or rules. One reason serves both. */
export function OverrideForm({ available, needed, busy, onOverride }: Props) {
  const [chosen, setChosen] = useState<readonly string[]>(needed.length > 0 ? needed : available)
  const [reason, setReason] = useState('')
  const only = available.length === 1 ? available[0] : undefined
  const isEnough = chosen.length > 0 && needed.every((one) => chosen.includes(one))
  return (
    <Alert color="orange" title={only === undefined ? 'Override' : LABELS[only]}>
      <Stack gap="sm">
        {only === undefined && (
          <Checkbox.Group label="What you override" value={[...chosen]} onChange={setChosen}>
            <Stack gap={4} mt={4}>
              {available.map((one) => (
                <Checkbox key={one} value={one} label={LABELS[one]} />
              ))}
            </Stack>
          </Checkbox.Group>
        )}
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
            loading={busy}
            disabled={reason.trim() === '' || !isEnough}
            onClick={() =>
              onOverride({
                ...(chosen.includes('freeze') ? { override_freeze: true } : {}),
                ...(chosen.includes('rules') ? { override_rules: true } : {}),
                override_reason: reason.trim(),
              })
            }
          >
            Override and start
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}
