import { Button, Group, Stack, Text } from '@mantine/core'
import { PermissionError } from '@slipway/client'
import { type FormEvent, useState } from 'react'
import { useRead, useWrite } from '../../api/queries.ts'
import { DeniedButton } from '../../components/denied-button.tsx'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { Page } from '../../components/page.tsx'
import { OPERATIONS } from '../../components/source-kinds.ts'
import { type Right, useRight } from '../../session/use-right.ts'
import { useCounting } from './counting.ts'
import { likelyVersion, useDeclaredVariables } from './declared-variables.ts'
import { deployCommand } from './deploy-command.ts'
import { countingRequest, deploymentRequest } from './deployment-request.ts'
import type { ChangeForm, Form } from './form.ts'
import type { Previewed } from './previewed.ts'
import { ScopeFields } from './scope-fields.tsx'
import { SourceFields } from './source-fields.tsx'
import { StrategyFields } from './strategy-fields.tsx'
import { TargetFields } from './target-fields.tsx'
import { TimeFields } from './time-fields.tsx'
import { VariableFields } from './variable-fields.tsx'
import { type Variable, valueProblem } from './variable-values.ts'

interface Props {
  form: Form
  onChange: ChangeForm
  onPreviewed: (previewed: Previewed) => void
}

/** Step 1: what is deployed, where, and how. */
export function DeployForm({ form, onChange, onPreviewed }: Props) {
  const { kind, sourceId } = form
  const source = useRead(OPERATIONS[kind].get, { params: { id: sourceId ?? '' } }, { enabled: sourceId !== null })
  const known = sourceId === null ? undefined : source.data
  // The count needs the variables and the variables need the version, so the newest version stands in at first.
  const [counted, setCounted] = useState<{ for: string; version: string } | null>(null)
  const wanted = form.versionsOf?.version ?? form.version
  const versionKey = JSON.stringify([kind, sourceId, wanted])
  const version =
    counted?.for === versionKey ? counted.version : known && likelyVersion(known, wanted.trim() || undefined)
  const declared = useDeclaredVariables(kind, sourceId, version)
  const variables: Variable[] = (sourceId !== null && declared.data) || []
  const counting = useCounting(declared.isLoading ? null : countingRequest(form, variables))
  const answer = counting.isBusy || counting.error ? undefined : counting.preview?.source_version
  if (answer !== undefined && (counted?.for !== versionKey || counted.version !== answer)) {
    setCounted({ for: versionKey, version: answer })
  }
  const right = useFormRight(form, counting.error)
  const preview = useWrite('previewDeployment')
  const request = deploymentRequest(form, variables)
  const hasProblem = variables.some((variable) => valueProblem(variable, form.values[variable.name]) !== null)

  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (request === null || !right.allowed) return
    preview.mutate(
      { body: request },
      {
        onSuccess: (plan) => {
          window.scrollTo({ top: 0 })
          onPreviewed({ request, plan, command: deployCommand('deploy', plan.source_name, request, variables) })
        },
      },
    )
  }
  return (
    <Page
      title="Deploy"
      command={
        known && request
          ? deployCommand('preview', known.name, request, variables)
          : 'slipway preview SOURCE --target TARGET'
      }
    >
      <form onSubmit={submit}>
        <Stack maw={820}>
          <SourceFields
            form={form}
            onChange={onChange}
            resolved={version}
            versions={known?.versions.map((one) => one.version) ?? []}
            error={counting.error ?? preview.error}
          />
          <TargetFields form={form} onChange={onChange} counting={counting} />
          <ScopeFields form={form} onChange={onChange} />
          <TimeFields form={form} onChange={onChange} error={preview.error} />
          <VariableFields form={form} onChange={onChange} declared={declared} version={version} error={preview.error} />
          <StrategyFields form={form} onChange={onChange} />
          {preview.error && <ErrorAlert error={preview.error} />}
          <Group>
            {right.allowed ? (
              <Button type="submit" loading={preview.isPending} disabled={request === null || hasProblem}>
                Preview
              </Button>
            ) : (
              <DeniedButton because={right.because}>Preview</DeniedButton>
            )}
            <Text size="sm" role="status">
              {right.because === null
                ? 'The preview creates nothing. You start the deployment in the next step.'
                : `You may not start this: ${right.because}.`}
            </Text>
          </Group>
        </Stack>
      </form>
    </Page>
  )
}

/** Whether the user may deploy what the form says. The count of targets finds out which environments they are in. */
function useFormRight({ kind, sourceId, environmentId }: Form, counting: Error | null): Right {
  const source = sourceId === null ? null : { type: kind, id: sourceId }
  const right = useRight('deployments:create', { kind: 'deployment', environment_id: environmentId, source })
  if (right.allowed && counting instanceof PermissionError) return { allowed: false, because: counting.message }
  return right
}
