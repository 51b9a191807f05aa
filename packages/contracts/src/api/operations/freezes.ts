import * as catalog from '../catalog.ts'
import { managedList, op } from './operation.ts'

export const freezeOperations = {
  listFreezes: managedList(
    {
      path: '/deployment-freezes',
      summary: 'List freezes',
      description: 'Lists freezes, also ended ones, with their present and next windows.',
      tag: 'freezes',
      access: 'freezes:read',
    },
    catalog.Freeze,
  ),
  createFreeze: op({
    method: 'POST',
    path: '/deployment-freezes',
    audit: 'freeze.create',
    summary: 'Create a freeze; without tenant, environment and solution it applies to all deployments',
    description:
      'During its windows, the freeze refuses creates and redeploys that it covers, and holds pending requests; what runs goes on. Without tenant, environment and solution it covers all deployments. With several of them, all must match. 409: the name is taken, or the tenant has 200 freezes that have not ended (SLIPWAY_FREEZES_PER_TENANT).',
    tag: 'freezes',
    access: 'freezes:create',
    body: catalog.CreateFreeze,
    responses: { 201: catalog.Freeze },
  }),
  getFreeze: op({
    method: 'GET',
    path: '/deployment-freezes/{id}',
    summary: 'Read a freeze',
    description: 'Shows one freeze with its present and next windows.',
    tag: 'freezes',
    access: 'freezes:read',
    responses: { 200: catalog.Freeze },
  }),
  updateFreeze: op({
    method: 'PATCH',
    path: '/deployment-freezes/{id}',
    audit: 'freeze.update',
    summary: 'Change a freeze',
    description:
      'Changes the fields that are sent, at once. Requests that the freeze no longer covers can start. 409 as in a create.',
    tag: 'freezes',
    access: 'freezes:update',
    body: catalog.ChangeFreeze,
    responses: { 200: catalog.Freeze },
  }),
  deleteFreeze: op({
    method: 'DELETE',
    path: '/deployment-freezes/{id}',
    audit: 'freeze.delete',
    summary: 'Delete a freeze; the requests that it holds can start',
    description: 'Removes the freeze. The requests that it holds can start at once.',
    tag: 'freezes',
    access: 'freezes:delete',
    responses: { 204: null },
  }),
} as const
