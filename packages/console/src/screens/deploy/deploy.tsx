import { Skeleton } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { KINDS } from '../../components/source-kinds.ts'
import type { Search } from '../../components/use-address.ts'
import { useSession } from '../../session/session.tsx'
import { DeploySteps } from './deploy-steps.tsx'
import { useStartForm } from './start-form.ts'

/** Two steps: the form, then the preview with the button that starts the deployment. */
export function Deploy() {
  const search: Search = useSearch({ strict: false })
  const { can } = useSession()
  if (!can('deployments:create') || !KINDS.some((one) => can(`${one}s:read`))) {
    return (
      <Page title="Deploy">
        <Empty title="You may not create deployments">
          An administrator can give you a role with the permission deployments:create.
        </Empty>
      </Page>
    )
  }
  const { step: _, draft = '', ...asked } = search
  // A link with other values starts again with these values.
  return <Begun key={JSON.stringify(asked)} search={asked} draft={draft} />
}

function Begun({ search, draft }: { search: Search; draft: string }) {
  const { form, last, error } = useStartForm(search)
  // Another draft is another form.
  if (form !== null) return <DeploySteps key={draft} start={form} last={last} />
  return (
    <Page title="Deploy">
      {error === null ? <Skeleton h={120} aria-busy="true" aria-label="Loading" /> : <ErrorAlert error={error} />}
    </Page>
  )
}
