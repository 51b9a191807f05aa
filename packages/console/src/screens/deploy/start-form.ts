import type { Answer } from '@slipway/client'
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { parseKind } from '../../components/source-kinds.ts'
import type { Search } from '../../components/use-address.ts'
import { useSession } from '../../session/session.tsx'
import { type Form, formFromDeployment, formFromPlace } from './form.ts'

interface Started {
  form: Form | null
  /** The deployment that filled the form. */
  last: Answer<'getDeployment'> | null
  error: Error | null
}

/**
 * The form that an address asks for. `from` repeats a deployment. `as=last` takes strategy, targets and variables of the last
 * deployment of the source in the environment; `from_environment` and `versions_of` say which versions.
 */
export function useStartForm(search: Search): Started {
  const { can, user } = useSession()
  const [started, setStarted] = useState<Started | null>(null)
  const { from, id = '', environment, tenant, from_environment, versions_of } = search
  const kind = parseKind(search['kind']) ?? 'solution'
  const isLast = from === undefined && search['as'] === 'last' && environment !== undefined && can('deployments:read')

  const newest = useRead(
    'listDeployments',
    {
      query: {
        [`${kind}_id`]: id,
        environment_id: environment ?? '',
        ...(tenant === undefined ? {} : { tenant_id: tenant }),
        limit: 1,
      },
    },
    { enabled: isLast },
  )
  const [found] = newest.data?.data ?? []
  // The values of one tenant are not for another one.
  const isOfTenant = found?.tenant_id === (tenant ?? user.tenant_id)
  const lastId = from ?? (isLast && isOfTenant ? found?.id : undefined)
  const last = useRead('getDeployment', { params: { id: lastId ?? '' } }, { enabled: lastId !== undefined })
  const versions = useRead(
    'getDeployment',
    { params: { id: versions_of ?? '' } },
    { enabled: versions_of !== undefined },
  )
  const promotion = useRead(
    'getPromotion',
    {
      query: {
        source_type: kind,
        source_id: id,
        from_environment_id: from_environment ?? '',
        to_environment_id: environment ?? '',
      },
    },
    { enabled: from_environment !== undefined && environment !== undefined },
  )
  const reads = [newest, last, versions, promotion]
  // An answer of before may be old: another deployment may have come since.
  const isReading = reads.some(({ isFetching }) => isFetching) || (lastId !== undefined && last.data === undefined)
  const error = reads.find((read) => read.error !== null)?.error ?? missingPromotion(promotion.data)
  // An answer that comes later must not change what the user has typed meanwhile.
  if (started === null && error === null && !isReading) {
    const filled = { search, ownTenant: user.tenant_id, last: last.data, versionsOf: versions.data }
    const form =
      from !== undefined && last.data !== undefined
        ? formFromDeployment(last.data, user.tenant_id)
        : formFromPlace({ ...filled, promotion: promotion.data })
    setStarted({ form, last: last.data ?? null, error: null })
  }
  return started ?? { form: null, last: null, error }
}

/** Without a version that may go on, the form would take the newest one, which nobody asked for. */
function missingPromotion(promotion: Answer<'getPromotion'> | undefined): Error | null {
  if (promotion === undefined || promotion.deployment_id !== null) return null
  return new Error(`There is no version to promote: ${promotion.blockers.join('; ')}`)
}
