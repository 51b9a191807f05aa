import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { type Answer, PermissionError } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import type { FormEvent } from 'react'
import { DeniedButton } from '../../components/denied-button.tsx'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { Page } from '../../components/page.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { type Right, useRight } from '../../session/use-right.ts'
import { deployCommand } from './deploy-command.ts'
import type { ChangeForm, Form } from './form.ts'
import { PlaceFields } from './place-fields.tsx'
import type { PlannedForm } from './planned-form.ts'
import { SourceFields } from './source-fields.tsx'
import { StrategyFields } from './strategy-fields.tsx'
import { TargetFields } from './target-fields.tsx'
import { TimeFields } from './time-fields.tsx'
import { VariableFields } from './variable-fields.tsx'
import { askedAgain } from './variable-values.ts'

interface Props {
  form: Form
  planned: PlannedForm
  /** The deployment that filled the form. */
  last: Answer<'getDeployment'> | null
  /** Why the server refused the preview. */
  refusal: Error | null
  onChange: ChangeForm
  onPreview: () => void
}

/** Step 1: where it is deployed, what, and how. */
export function DeployForm({ form, planned, last, refusal, onChange, onPreview }: Props) {
  const { request, problem, counting, source, variables } = planned
  const right = useFormRight(form, counting.error)
  const asked = askedAgain(form)
  const undeclared = asked.filter((name) => variables.every((variable) => variable.name !== name))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (request !== null && problem === null && right.allowed) onPreview()
  }
  return (
    <Page
      title="Deploy"
      command={
        source && request
          ? deployCommand('preview', source.name, request, variables)
          : 'slipway preview SOURCE --target TARGET'
      }
    >
      <form onSubmit={submit}>
        <Stack maw={820}>
          {last !== null && <FilledFrom deployment={last} />}
          {asked.length > 0 && (
            <Alert color="orange" title="The preview needs a secret" role="status">
              The last deployment had {asked.length === 1 ? 'a secret' : 'secrets'} in {asked.join(', ')}. Type{' '}
              {asked.length === 1 ? 'it' : 'them'} below, or leave {asked.length === 1 ? 'it' : 'them'} out.
              {undeclared.length > 0 && (
                <Group mt="xs">
                  <Button
                    size="compact-sm"
                    variant="default"
                    onClick={() => onChange({ asked: form.asked.filter((name) => !undeclared.includes(name)) })}
                  >
                    Leave {undeclared.join(', ')} out
                  </Button>
                </Group>
              )}
            </Alert>
          )}
          <PlaceFields form={form} onChange={onChange} />
          <SourceFields form={form} planned={planned} onChange={onChange} error={counting.error ?? refusal} />
          <TargetFields form={form} planned={planned} onChange={onChange} />
          <VariableFields form={form} planned={planned} onChange={onChange} error={refusal} />
          <TimeFields form={form} onChange={onChange} error={refusal} />
          <StrategyFields form={form} onChange={onChange} />
          {refusal && <ErrorAlert error={refusal} />}
          <Group>
            {right.allowed ? (
              <Button type="submit" disabled={request === null || problem !== null}>
                Preview
              </Button>
            ) : (
              <DeniedButton because={right.because}>Preview</DeniedButton>
            )}
            <Text size="sm" role="status">
              {right.because === null
                ? (problem ?? 'The preview creates nothing. You start the deployment in the next step.')
                : `You may not start this: ${right.because}.`}
            </Text>
          </Group>
        </Stack>
      </form>
    </Page>
  )
}

/** Which deployment the values in the form are from. */
export function FilledFrom({ deployment }: { deployment: Answer<'getDeployment'> }) {
  const { id, environment_name, created_at } = deployment
  return (
    <Text size="sm">
      Strategy, targets and variables are those of{' '}
      <Anchor component={Link} to={`/deployments/${id}`} size="sm">
        an earlier deployment{environment_name === null ? '' : ` in ${environment_name}`}
      </Anchor>
      , <TimeAgo at={created_at} />.
    </Text>
  )
}

/** Whether the user may deploy what the form says. The count of targets finds out which environments they are in. */
function useFormRight({ kind, sourceId, environmentId }: Form, counting: Error | null): Right {
  const source = sourceId === null ? null : { type: kind, id: sourceId }
  const right = useRight('deployments:create', { kind: 'deployment', environment_id: environmentId, source })
  if (right.allowed && counting instanceof PermissionError) return { allowed: false, because: counting.message }
  return right
}
