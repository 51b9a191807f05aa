import { Skeleton } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { KINDS, type Kind, parseKind } from '../../components/source-kinds.ts'
import type { Search } from '../../components/use-address.ts'
import { useSession } from '../../session/session.tsx'
import { useUsualKind } from '../sources/totals.ts'
import { DeployForm } from './deploy-form.tsx'
import { type Form, formFromAddress, formFromDeployment, formFromPromotion } from './form.ts'
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
  if (search['from_environment'] !== undefined) {
    return <DeployPromotion key={JSON.stringify(search)} search={search} kind={kind} />
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

/** The form as a promotion fills it: what is in force in one environment, on the targets of another one. */
function DeployPromotion({ search, kind }: { search: Search; kind: Kind }) {
  const { id = '', from_environment = '', environment = '' } = search
  const query = {
    source_type: kind,
    source_id: id,
    from_environment_id: from_environment,
    to_environment_id: environment,
  }
  // What a user changes in the form must not be lost when an answer comes later.
  const promotion = useRead('getPromotion', { query })
  const [start, setStart] = useState<Form | null>(null)
  if (start === null && promotion.data !== undefined) setStart(formFromPromotion(search, kind, promotion.data))
  if (start !== null) return <DeploySteps start={start} />
  return (
    <Page title="Deploy">
      <Loaded read={promotion}>{() => null}</Loaded>
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
