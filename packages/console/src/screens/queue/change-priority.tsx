import { Button, Group, NumberInput, Stack } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { useRight } from '../../session/use-right.ts'
import { type Request, touchedBy } from './waiting.ts'

const HIGHEST = 100

interface Props {
  request: Request
  /** The priority of the request that starts next. */
  highest: number
}

export function ChangePriority({ request, highest }: Props) {
  const { id, priority } = request
  const right = useRight('deployments:create', touchedBy(request))
  const [chosen, setChosen] = useState<number | string>(priority)
  const update = useWrite('updatePending', 'listPending')
  const front = Math.min(HIGHEST, highest + 1)
  return (
    <ConfirmButton
      may={right}
      size="compact-xs"
      variant="default"
      label="Edit priority"
      question="The request with the highest priority starts first; among equals, the oldest."
      inputs={
        <Stack gap="xs">
          <NumberInput
            label="Priority"
            description={`-100 to 100. The next request has ${highest}`}
            min={-HIGHEST}
            max={HIGHEST}
            allowDecimal={false}
            value={chosen}
            onChange={setChosen}
          />
          <Group>
            <Button variant="default" size="compact-xs" disabled={chosen === front} onClick={() => setChosen(front)}>
              {front}: before all others
            </Button>
          </Group>
        </Stack>
      }
      onConfirm={() => update.mutateAsync({ params: { id }, body: { priority: Number(chosen) } })}
    />
  )
}
