import { Fieldset, SimpleGrid } from '@mantine/core'
import { fieldProblem } from '../../components/field-problem.ts'
import { TimeInput } from '../../components/time-input.tsx'
import type { ChangeForm, Form } from './form.ts'

interface Props {
  form: Form
  onChange: ChangeForm
  /** Why the server refused the request. */
  error: Error | null
}

/** When the deployment starts at the earliest, and until when it may wait. */
export function TimeFields({ form, onChange, error }: Props) {
  return (
    <Fieldset legend="Time">
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TimeInput
          label="Start time"
          description="It waits until then. Empty: at once"
          error={fieldProblem(error, '/start_at')}
          value={form.startAt || undefined}
          onChange={(startAt = '') => onChange({ startAt })}
        />
        <TimeInput
          label="Expires"
          description="It is cancelled if it has not started by then. Empty: never"
          error={fieldProblem(error, '/expires_at')}
          value={form.expiresAt || undefined}
          onChange={(expiresAt = '') => onChange({ expiresAt })}
        />
      </SimpleGrid>
    </Fieldset>
  )
}
