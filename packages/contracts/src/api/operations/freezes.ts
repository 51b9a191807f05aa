import { Strict } from '../../schema.ts'
import * as catalog from '../catalog.ts'
import { sortBy } from '../common.ts'
import { managedListQuery, recordOperations } from './operation.ts'

const freezes = recordOperations({
  kind: 'freeze',
  resource: 'freezes',
  path: '/deployment-freezes',
  record: catalog.Freeze,
  create: catalog.CreateFreeze,
  update: catalog.ChangeFreeze,
  query: Strict({
    ...managedListQuery.properties,
    ...sortBy('-created_at', ['name', 'created_at', 'start_time', 'end_time']),
  }),
  summaries: {
    create: 'Create a freeze; without tenant, environment and solution it applies to all deployments',
    delete: 'Delete a freeze; the requests that it holds can start',
  },
  about: {
    list: 'Lists freezes, also ended ones, with their present and next windows.',
    create:
      'During its windows, the freeze refuses creates and redeploys that it covers, and holds pending requests; what runs goes on. Without tenant, environment and solution it covers all deployments. With several of them, all must match. 409: the name is taken, or the tenant has 200 freezes that have not ended (SLIPWAY_FREEZES_PER_TENANT).',
    get: 'Shows one freeze with its present and next windows.',
    update:
      'Changes the fields that are sent, at once. Requests that the freeze no longer covers can start. 409 as in a create.',
    delete: 'Removes the freeze. The requests that it holds can start at once.',
  },
})

export const freezeOperations = {
  listFreezes: freezes.list,
  createFreeze: freezes.create,
  getFreeze: freezes.get,
  updateFreeze: freezes.update,
  deleteFreeze: freezes.delete,
} as const
