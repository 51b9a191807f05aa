import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import type { Search } from '../../components/use-address.ts'
import { filtersOf, useAddress } from '../../components/use-address.ts'
import { useSession } from '../../session/session.tsx'
import type { AuditQuery } from './actions.ts'
import { AuditChain } from './audit-chain.tsx'
import { AuditFilters, FILTERS } from './audit-filters.tsx'
import { AuditTable } from './audit-table.tsx'

export function Audit() {
  const { search, change, page, toPage } = useAddress()
  const { user } = useSession()
  const filters = filtersOf(search, FILTERS)
  const query = { ...filters, page, limit: 50 } as AuditQuery
  const records = useRead('listAuditLogs', { query }, { keep: true })
  return (
    <Page title="Audit" command={commandFor(filters)}>
      {/* The chain covers all tenants. */}
      {user.tenant_id === null && <AuditChain />}
      <AuditFilters search={search} onChange={change} />
      <Loaded read={records}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <Empty title="No records">
              {Object.keys(filters).length > 0
                ? 'No record fits these filters. Remove one.'
                : 'Every change and every refusal leaves a record here.'}
            </Empty>
          ) : (
            <>
              <AuditTable records={data} onFilter={change} />
              <Pager meta={meta} onPage={toPage} />
            </>
          )
        }
      </Loaded>
    </Page>
  )
}

const OPTIONS: Record<(typeof FILTERS)[number], string> = {
  action: '--action',
  resource_type: '--resource-type',
  resource_id: '--resource',
  actor_id: '--actor',
  api_key_id: '--api-key',
  from: '--from',
  to: '--to',
}

function commandFor(filters: Search): string {
  const options = FILTERS.flatMap((name) => (filters[name] ? [OPTIONS[name], filters[name]] : []))
  return ['slipway audit', ...options].join(' ')
}
