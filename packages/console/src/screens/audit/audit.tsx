import { useRead } from '../../api/queries.ts'
import { ListScreen } from '../../components/list-screen.tsx'
import { filtersOf, type Search, useAddress } from '../../components/use-address.ts'
import { useSession } from '../../session/session.tsx'
import type { AuditQuery } from './actions.ts'
import { AuditChain } from './audit-chain.tsx'
import { auditColumns, DETAILS } from './audit-columns.tsx'
import { AuditFilters, FILTERS, SHOWN } from './audit-filters.tsx'

export function Audit() {
  const { search, change, page } = useAddress()
  const { user } = useSession()
  const filters = filtersOf(search, FILTERS)
  const query = { ...filters, ...excluded(search), page, limit: 50 } as AuditQuery
  const records = useRead('listAuditLogs', { query }, { keep: true })
  return (
    <ListScreen
      title="Audit"
      command={commandFor({ ...filters, ...excluded(search) })}
      record="record"
      // The chain covers all tenants.
      top={user.tenant_id === null && <AuditChain />}
      searched={null}
      filters={<AuditFilters search={search} onChange={change} />}
      isFiltered={Object.keys(filters).length > 0}
      purpose="Every change and every refusal leaves a record here."
      read={records}
      columns={auditColumns(change)}
      details={DETAILS}
    />
  )
}

/** Each tab refreshes its session every few minutes: without this, nothing else is on the first pages. */
const REFRESH = 'auth.refresh'

const excluded = ({ refreshes, action }: Search) =>
  refreshes === SHOWN || action === REFRESH ? {} : { exclude_action: REFRESH }

const OPTIONS = {
  action: '--action',
  resource_type: '--resource-type',
  resource_id: '--resource',
  actor_id: '--actor',
  api_key_id: '--api-key',
  from: '--since',
  to: '--until',
  exclude_action: '--exclude-action',
}

function commandFor(filters: Search): string {
  const options = Object.entries(OPTIONS).flatMap(([name, option]) => (filters[name] ? [option, filters[name]] : []))
  return ['slipway audit', ...options].join(' ')
}
