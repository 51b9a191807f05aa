import type { TSchema } from '@sinclair/typebox'
import * as catalog from '../catalog.ts'
import { list, op } from './operation.ts'

const records = <const R extends 'target' | 'environment' | 'tenant'>(kind: R, record: TSchema, create: TSchema) => {
  const tag = `${kind}s` as const
  const access = <const A extends 'read' | 'create'>(a: A) => `${kind}s:${a}` as const
  return {
    list: list({ path: `/${tag}`, summary: `List ${tag}`, tag, access: access('read') }, record),
    create: op({
      method: 'POST',
      path: `/${tag}`,
      audit: `${kind}.create` as const,
      summary: `Create ${kind === 'environment' ? 'an' : 'a'} ${kind}`,
      tag,
      access: access('create'),
      body: create,
      responses: { 201: record },
    }),
    get: op({
      method: 'GET',
      path: `/${tag}/{id}`,
      summary: `Read ${kind === 'environment' ? 'an' : 'a'} ${kind}`,
      tag,
      access: access('read'),
      responses: { 200: record },
    }),
  }
}

const targets = records('target', catalog.Target, catalog.CreateTarget)
const environments = records('environment', catalog.Environment, catalog.CreateEnvironment)
const tenants = records('tenant', catalog.Tenant, catalog.CreateTenant)

export const targetOperations = {
  listTargets: targets.list,
  createTarget: targets.create,
  getTarget: targets.get,
  listEnvironments: environments.list,
  createEnvironment: environments.create,
  getEnvironment: environments.get,
  listTenants: tenants.list,
  createTenant: tenants.create,
  getTenant: tenants.get,
  listTags: list(
    { path: '/tags', summary: 'Tags in use on targets', tag: 'targets', access: 'tags:read' },
    catalog.TagRecord,
  ),
} as const
