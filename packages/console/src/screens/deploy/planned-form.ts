import { ApiError, type Schema } from '@slipway/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../api/client.ts'
import { useRead } from '../../api/queries.ts'
import { OPERATIONS } from '../../components/source-kinds.ts'
import { type Counting, useCounting } from './counting.ts'
import { likelyVersion, useDeclaredVariables } from './declared-variables.ts'
import { countingRequest, deploymentRequest } from './deployment-request.ts'
import { useEnvironmentTargets } from './environment-targets.ts'
import type { Form } from './form.ts'
import { askedAgain, type Variable, valueProblem } from './variable-values.ts'

type Request = Schema<'CreateDeployment'>

/** What a form means: the record of its source, the variables of the version, the targets, and the request. */
export interface PlannedForm {
  source: Schema<'Source'> | undefined
  /** What the requirement resolves to, as far as it is known. */
  version: string | undefined
  variables: Variable[]
  declared: { data: Variable[] | undefined; error: Error | null; isLoading: boolean }
  /** How many enabled targets the environment has; undefined until they are read. */
  environmentTotal: number | undefined
  counting: Counting
  /** Null while source or targets are missing. */
  request: Request | null
  /** Why the request cannot be previewed yet; null: it can. */
  problem: string | null
  /** Whether everything is read that the request consists of. */
  isSettled: boolean
}

export function usePlannedForm(form: Form): PlannedForm {
  const { kind, sourceId, environmentId } = form
  const source = useRead(OPERATIONS[kind].get, { params: { id: sourceId ?? '' } }, { enabled: sourceId !== null })
  const known = sourceId === null ? undefined : source.data
  const inEnvironment = useEnvironmentTargets(environmentId)
  // The count needs the variables and the variables need the version, so the newest version stands in at first.
  const [counted, setCounted] = useState<{ for: string; version: string } | null>(null)
  const wanted = form.versionsOf?.version ?? form.version
  const versionKey = JSON.stringify([kind, sourceId, wanted])
  const version =
    counted?.for === versionKey ? counted.version : known && likelyVersion(known, wanted.trim() || undefined)
  const declared = useDeclaredVariables(kind, sourceId, version)
  const variables: Variable[] = (sourceId !== null && declared.data) || []
  const counting = useCounting(declared.isLoading ? null : countingRequest(form, variables, inEnvironment.data ?? []))
  const answer = counting.isBusy || counting.error ? undefined : counting.preview?.source_version
  if (answer !== undefined && (counted?.for !== versionKey || counted.version !== answer)) {
    setCounted({ for: versionKey, version: answer })
  }
  // Without a source there is nothing to declare. After a failed read the form says so, and there is no preview.
  const isKnown = sourceId === null || source.error !== null || declared.data !== undefined || declared.error !== null
  return {
    source: known,
    version,
    variables,
    declared,
    environmentTotal: environmentId === null ? undefined : inEnvironment.data?.length,
    counting,
    request: deploymentRequest(form, variables, inEnvironment.data ?? []),
    problem: declared.error === null ? problemOf(form, variables) : 'The variables of the source are not known.',
    isSettled: !source.isLoading && !inEnvironment.isLoading && isKnown,
  }
}

function problemOf(form: Form, variables: readonly Variable[]): string | null {
  const [secret] = askedAgain(form)
  if (secret !== undefined) return `Type the secret ${secret} again, or leave it out.`
  const wrong = variables.find((variable) => valueProblem(variable, form.values[variable.name]) !== null)
  return wrong === undefined ? null : `Correct the value of ${wrong.name}.`
}

/** Previews the request when the preview is on screen. It stays as it is until someone asks again, because a person reads it. */
export function usePreview(request: Request | null, isShown: boolean) {
  return useQuery({
    queryKey: ['previewDeployment', { body: request }],
    queryFn: ({ signal }) => client.call('previewDeployment', { body: request ?? {}, signal }),
    enabled: isShown && request !== null,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    gcTime: 0,
  })
}

/** Whether the server refused what the form says. Anything else may pass by itself. */
export const isRefusal = (error: Error | null): error is ApiError => error instanceof ApiError && error.status < 500
