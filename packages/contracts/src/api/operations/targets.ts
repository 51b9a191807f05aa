import { type TSchema, Type } from '@sinclair/typebox'
import { Id, literals, Strict } from '../../schema.ts'
import * as catalog from '../catalog.ts'
import { Page, PageQuery, TagFilter } from '../common.ts'
import { DeploymentOfTarget } from '../deployments.ts'
import { list, managedList, managedListQuery, op } from './operation.ts'

const records = <const R extends 'target' | 'environment' | 'tenant'>(
  kind: R,
  { record, create, change }: Record<'record' | 'create' | 'change', TSchema>,
) => {
  const tag = `${kind}s` as const
  const access = <const A extends 'read' | 'create' | 'update' | 'delete'>(a: A) => `${kind}s:${a}` as const
  return {
    list: managedList({ path: `/${tag}`, summary: `List ${tag}`, tag, access: access('read') }, record),
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
    update: op({
      method: 'PATCH',
      path: `/${tag}/{id}`,
      audit: `${kind}.update` as const,
      summary: `Change ${kind === 'environment' ? 'an' : 'a'} ${kind}`,
      tag,
      access: access('update'),
      body: change,
      responses: { 200: record },
    }),
    delete: op({
      method: 'DELETE',
      path: `/${tag}/{id}`,
      audit: `${kind}.delete` as const,
      summary: `Delete ${kind === 'environment' ? 'an' : 'a'} ${kind} that ${kind === 'target' ? 'no run uses' : 'no record refers to'}`,
      tag,
      access: access('delete'),
      responses: { 204: null },
    }),
  }
}

const targets = records('target', {
  record: catalog.Target,
  create: catalog.CreateTarget,
  change: catalog.ChangeTarget,
})
const environments = records('environment', {
  record: catalog.Environment,
  create: catalog.CreateEnvironment,
  change: catalog.ChangeEnvironment,
})
const tenants = records('tenant', {
  record: catalog.Tenant,
  create: catalog.CreateTenant,
  change: catalog.ChangeTenant,
})

export const targetOperations = {
  listTargets: op({
    ...targets.list,
    query: Strict({
      ...managedListQuery.properties,
      environment_id: Type.Optional(Id('environment')),
      tag: Type.Optional(TagFilter),
      status: Type.Optional(literals(catalog.TARGET_STATUSES)),
      enabled: Type.Optional(literals(['true', 'false'])),
    }),
  }),
  createTarget: targets.create,
  getTarget: targets.get,
  updateTarget: targets.update,
  deleteTarget: targets.delete,
  listTargetDeployments: op({
    method: 'GET',
    path: '/targets/{id}/deployments',
    summary: 'List the deployments that included the target, newest first',
    tag: 'targets',
    access: 'deployments:read',
    query: Strict(PageQuery),
    responses: { 200: Page(DeploymentOfTarget) },
  }),
  createAgentToken: op({
    method: 'POST',
    path: '/targets/{id}/agent-token',
    audit: 'target.create_agent_token',
    summary: 'Get a token with which an agent enrols for the target; earlier tokens are void',
    tag: 'targets',
    access: 'targets:update',
    responses: { 201: catalog.AgentToken },
  }),
  getTargetAgent: op({
    method: 'GET',
    path: '/targets/{id}/agent',
    summary: 'Read the agent of the target',
    tag: 'targets',
    access: 'targets:read',
    responses: { 200: catalog.TargetAgent },
  }),
  revokeTargetAgent: op({
    method: 'DELETE',
    path: '/targets/{id}/agent',
    audit: 'target.revoke_agent',
    summary: 'Revoke the agent of the target and its unused token',
    tag: 'targets',
    access: 'targets:update',
    responses: { 204: null },
  }),
  listEnvironments: environments.list,
  createEnvironment: environments.create,
  getEnvironment: environments.get,
  updateEnvironment: environments.update,
  deleteEnvironment: environments.delete,
  listTenants: tenants.list,
  createTenant: tenants.create,
  getTenant: tenants.get,
  updateTenant: tenants.update,
  deleteTenant: tenants.delete,
  listTags: list(
    { path: '/tags', summary: 'Tags in use on targets', tag: 'targets', access: 'tags:read' },
    catalog.TagRecord,
  ),
} as const
