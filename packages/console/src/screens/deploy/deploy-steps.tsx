import { Skeleton } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { newKey } from '../../components/new-key.ts'
import { Page } from '../../components/page.tsx'
import type { Search } from '../../components/use-address.ts'
import { useSession } from '../../session/session.tsx'
import { deployCommand } from './deploy-command.ts'
import { DeployForm } from './deploy-form.tsx'
import { keepDraft, readDraft } from './drafts.ts'
import { environmentTargetsKey } from './environment-targets.ts'
import type { Form } from './form.ts'
import { NothingToDeploy, unchangedTargets } from './only-changed.tsx'
import { PlanPreview } from './plan-preview.tsx'
import { isRefusal, usePlannedForm, usePreview } from './planned-form.ts'

interface Props {
  start: Form
  /** The deployment that filled the form. */
  last: Answer<'getDeployment'> | null
}

/** The form or, with `step=preview` in the address, the preview of what it asks for. The address names a draft of the form. */
export function DeploySteps({ start, last }: Props) {
  const search: Search = useSearch({ strict: false })
  const navigate = useNavigate()
  const queries = useQueryClient()
  const { user } = useSession()
  const place = { queries, userId: user.id, id: search['draft'] }
  const [form, setForm] = useState(() => readDraft(place) ?? start)
  const [refusal, setRefusal] = useState<Error | null>(null)
  const planned = usePlannedForm(form)
  const { request, variables } = planned
  const isPreview = search['step'] === 'preview'
  const canPreview = planned.isSettled && request !== null && planned.problem === null

  const preview = usePreview(request, isPreview && canPreview)
  const unchanged = unchangedTargets(preview.error)
  const error = !preview.isFetching && isRefusal(preview.error) && unchanged === null ? preview.error : null
  const mustFill = isPreview && planned.isSettled && (!canPreview || error !== null)

  const go = (changes: Search, replace: boolean) =>
    navigate({ to: '/deploy', search: { ...search, ...changes } as never, replace })
  const open = planned.declared.data && new Set(variables.flatMap(({ name, sensitive }) => (sensitive ? [] : [name])))
  const change = (changes: Partial<Form>) => {
    const next = { ...form, ...changes }
    setForm(next)
    keepDraft(place, next, open ?? null)
    setRefusal(null)
  }
  useEffect(() => {
    if (!mustFill) return
    setRefusal(error)
    void navigate({ to: '/deploy', search: { ...search, step: undefined } as never, replace: true })
  }, [mustFill, error, navigate, search])

  const toPreview = async () => {
    const draft = search['draft'] ?? newKey()
    keepDraft({ ...place, id: draft }, form, open ?? null)
    setRefusal(null)
    // Targets may have come or gone since the form was opened.
    await queries.invalidateQueries({ queryKey: environmentTargetsKey(form.environmentId) })
    // Back leads to this form, so its address names the draft, too.
    if (search['draft'] === undefined) await go({ draft }, true)
    await go({ draft, step: 'preview' }, false)
    window.scrollTo({ top: 0 })
  }
  if (!isPreview || mustFill) {
    return (
      <DeployForm form={form} planned={planned} last={last} onChange={change} onPreview={toPreview} refusal={refusal} />
    )
  }
  if (unchanged !== null) {
    return (
      <Page title="Preview">
        <NothingToDeploy
          count={unchanged.length}
          busy={preview.isFetching}
          onPreviewAll={() => change({ onlyChanged: false })}
        />
      </Page>
    )
  }
  if (request === null || preview.data === undefined) {
    return (
      <Page title="Preview">
        {preview.error && <ErrorAlert error={preview.error} />}
        {preview.isFetching && <Skeleton h={120} aria-busy="true" aria-label="Planning" />}
      </Page>
    )
  }
  return (
    <PlanPreview
      previewed={{
        request,
        plan: preview.data,
        command: deployCommand('deploy', preview.data.source_name, request, variables),
      }}
      last={last}
      isPreviewing={preview.isFetching}
      error={preview.error}
      onPreview={() => void preview.refetch()}
      onOnlyChanged={(onlyChanged) => change({ onlyChanged })}
      onBack={() => void go({ step: undefined }, false)}
    />
  )
}
