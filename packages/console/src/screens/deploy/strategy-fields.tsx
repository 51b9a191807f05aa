import { Button, Checkbox, Collapse, NumberInput, Select, SimpleGrid, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ChangeForm, Form } from './form.ts'

const MODES = [
  { value: 'sequential', label: 'One target after another' },
  { value: 'parallel', label: 'All targets at the same time' },
  { value: 'rolling', label: 'In batches' },
]
const FAILURES = [
  { value: 'stop_on_first_failure', label: 'Stop at the first failure' },
  { value: 'continue_on_failure', label: 'Continue with the other targets' },
  { value: 'ignore_failures', label: 'Ignore failures' },
]
const ROLLBACKS = [
  { value: 'none', label: 'Nothing' },
  { value: 'failed_target_only', label: 'The target that failed' },
  { value: 'all_executed', label: 'Every target on which a step ran' },
]

/** How the deployment runs. Collapsed, because the defaults fit most deployments. */
export function StrategyFields({ form, onChange }: { form: Form; onChange: ChangeForm }) {
  const [isOpen, { toggle }] = useDisclosure(false)
  return (
    <Stack align="start" gap="xs">
      <Button variant="default" onClick={toggle} aria-expanded={isOpen} aria-controls="strategy">
        {isOpen ? '▾' : '▸'} Strategy, priority, timeouts and retries
      </Button>
      <Collapse expanded={isOpen} id="strategy" w="100%">
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <Select
            label="Order of the targets"
            data={MODES}
            allowDeselect={false}
            value={form.targetMode}
            onChange={(mode) => mode && onChange({ targetMode: mode as Form['targetMode'] })}
          />
          <NumberInput
            label="Targets in a batch"
            min={1}
            max={1_000_000}
            allowDecimal={false}
            disabled={form.targetMode !== 'rolling'}
            required={form.targetMode === 'rolling'}
            value={form.batchSize}
            onChange={(batchSize) => onChange({ batchSize })}
          />
          <Select
            label="After a failure"
            data={FAILURES}
            allowDeselect={false}
            value={form.failureStrategy}
            onChange={(chosen) => chosen && onChange({ failureStrategy: chosen as Form['failureStrategy'] })}
          />
          <Select
            label="Roll back after a failure"
            data={ROLLBACKS}
            allowDeselect={false}
            value={form.rollbackStrategy}
            onChange={(chosen) => chosen && onChange({ rollbackStrategy: chosen as Form['rollbackStrategy'] })}
          />
          <NumberInput
            label="Priority in the queue"
            description="-100 to 100; higher is more urgent"
            min={-100}
            max={100}
            allowDecimal={false}
            value={form.priority}
            onChange={(priority) => onChange({ priority })}
          />
          <NumberInput
            label="Retries of a failed command"
            description="0 to 10; empty: as the action says"
            min={0}
            max={10}
            allowDecimal={false}
            value={form.maxRetries}
            onChange={(maxRetries) => onChange({ maxRetries })}
          />
          <NumberInput
            label="Timeout of a command in seconds"
            description="Empty: as the action says"
            min={1}
            max={86_400}
            allowDecimal={false}
            value={form.timeoutSeconds}
            onChange={(timeoutSeconds) => onChange({ timeoutSeconds })}
          />
          <NumberInput
            label="Timeout of the deployment in seconds"
            description="0 or empty: no limit"
            min={0}
            max={31_536_000}
            allowDecimal={false}
            value={form.deploymentTimeoutSeconds}
            onChange={(deploymentTimeoutSeconds) => onChange({ deploymentTimeoutSeconds })}
          />
          <Checkbox
            label="Fetch files again from the content store"
            checked={form.bypassCache}
            onChange={(event) => onChange({ bypassCache: event.currentTarget.checked })}
          />
        </SimpleGrid>
      </Collapse>
    </Stack>
  )
}
