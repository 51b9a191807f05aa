import { Skeleton } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { KINDS, parseKind } from '../../components/source-kinds.ts'
import { useSession } from '../../session/session.tsx'
import { useUsualKind } from '../sources/totals.ts'
import { DeployForm } from './deploy-form.tsx'
import { type Form, formFromAddress, formFromDeployment } from './form.ts'
import { PlanPreview } from './plan-preview.tsx'
import type { Previewed } from './previewed.ts'

/** Two steps: the form, then the preview with the button that starts the deployment. */
export function Deploy() {
  const search = useSearch({ strict: false })
  const { can } = useSession()
  const asked = parseKind(search['kind'])
  const { from } = search
  const mayDeploy = can('deployments:create') && KINDS.some((one) => can(`${one}s:read`))
  const usual = useUsualKind(mayDeploy && asked === null && from === undefined)
  const kind = asked ?? usual
  if (mayDeploy && from !== undefined) return <DeployFrom key={from} id={from} />
  if (!mayDeploy || kind === null) {
    return (
      <Page title="Deploy">
        {mayDeploy ? (
          <Skeleton h={120} aria-busy="true" aria-label="Loading" />
        ) : (
          <Empty title="You may not create deployments">
            An administrator can give you a role with the permission deployments:create.
          </Empty>
        )}
      </Page>
    )
  }
  // A link with other values starts again with these values.
  return <DeploySteps key={JSON.stringify(search)} start={formFromAddress(search, kind)} />
}

/** The form as an earlier deployment was started. */
function DeployFrom({ id }: { id: string }) {
  const { user } = useSession()
  const earlier = useRead('getDeployment', { params: { id } })
  if (earlier.data !== undefined) return <DeploySteps start={formFromDeployment(earlier.data, user.tenant_id)} />
  return (
    <Page title="Deploy">
      <Loaded read={earlier}>{() => null}</Loaded>
    </Page>
  )
}

function DeploySteps({ start }: { start: Form }) {
  const [form, setForm] = useState(start)
  const [previewed, setPreviewed] = useState<Previewed | null>(null)
  if (previewed !== null) {
    return <PlanPreview previewed={previewed} onPreviewed={setPreviewed} onBack={() => setPreviewed(null)} />
  }
  return (
    <DeployForm
      form={form}
      onChange={(changes) => setForm((known) => ({ ...known, ...changes }))}
      onPreviewed={setPreviewed}
    />
  )
}
