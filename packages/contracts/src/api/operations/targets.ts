import { Type } from '@sinclair/typebox'
import { describe, Id, literals, Strict } from '../../schema.ts'
import * as catalog from '../catalog.ts'
import { amongIds, Page, PageQuery, sortBy, TagFilter } from '../common.ts'
import { DeploymentOfTarget } from '../deployments.ts'
import { list, listQueryWith, managedListQuery, op, recordOperations } from './operation.ts'

const targets = recordOperations({
  kind: 'target',
  resource: 'targets',
  record: catalog.Target,
  create: catalog.CreateTarget,
  update: catalog.ChangeTarget,
  query: Strict({
    ...managedListQuery.properties,
    ...sortBy('-created_at', ['name', 'status', 'created_at', 'last_seen_at', 'environment_name']),
    ...amongIds,
    environment_id: Type.Optional(Id('environment', 'Only targets of this environment')),
    tag: Type.Optional(TagFilter),
    status: Type.Optional(describe(literals(catalog.TARGET_STATUSES), 'Only targets with this status', 'offline')),
    enabled: Type.Optional(
      describe(literals(['true', 'false']), 'Only targets that deployments may use, or may not use', 'true'),
    ),
  }),
  refusals: ['CONFIGURATION_ERROR'],
  summaries: { delete: 'Delete a target that no run uses' },
  about: {
    list: 'Lists the targets that the caller may see, newest first, with their status. Filters are combined with "and".',
    create:
      'Creates a target. Without private key and password, an SSH target works only if its host asks for neither. A local target needs the permission `targets:local`, which has no effect for users of a tenant. 409: the tenant has a target of this name.',
    get: 'Shows one target: connection without secrets, tags, variables, status.',
    update:
      'Changes the fields that are sent. Plans that were made before keep the old values of variables. 409: the name is taken, or a deployment that runs or waits uses the target and its tenant, connection type, host or port would change. Another host also makes Slipway forget the pinned host key and the agent.',
    delete: 'Removes a target that no deployment which runs or waits uses (409). The history of its deployments stays.',
  },
})
const environments = recordOperations({
  kind: 'environment',
  resource: 'environments',
  record: catalog.Environment,
  create: catalog.CreateEnvironment,
  update: catalog.ChangeEnvironment,
  query: Strict({
    ...managedListQuery.properties,
    ...sortBy('position', ['position', 'name', 'created_at']),
    ...amongIds,
  }),
  refusals: ['CONFIGURATION_ERROR'],
  summaries: { delete: 'Delete an environment that no record refers to' },
  about: {
    list: 'Lists the environments that the caller may see, by position: those without one last, and equal ones by name.',
    create: 'Creates a group of targets with variables of its own. 409: the tenant has an environment of this name.',
    get: 'Shows one environment with its variables; those of sensitive_variables are `***`.',
    update:
      'Changes the fields that are sent. `variables` replaces all variables. 409: the name is taken, or the tenant would change while records refer to the environment.',
    delete:
      'Removes an environment. 409: a target, a freeze, or a deployment or pending request that is still stored refers to it, also an ended one.',
  },
})
const tenants = recordOperations({
  kind: 'tenant',
  resource: 'tenants',
  record: catalog.Tenant,
  create: catalog.CreateTenant,
  update: catalog.ChangeTenant,
  query: Strict({ ...managedListQuery.properties, ...sortBy('-created_at', ['name', 'created_at']), ...amongIds }),
  refusals: ['CONFIGURATION_ERROR'],
  summaries: { delete: 'Delete a tenant that no record refers to' },
  about: {
    list: 'Lists tenants, newest first. A user of a tenant sees that tenant only.',
    create:
      'Creates a group of users and records that no other tenant sees. Only users without tenant may call it (403). 409: name or slug is taken.',
    get: 'Shows one tenant with its variables; those of sensitive_variables are `***`.',
    update:
      'Changes the fields that are sent. `variables` replaces all variables. Only users without tenant may call it (403). 409: name or slug is taken.',
    delete:
      'Removes a tenant. Only users without tenant may call it (403). 409: a user, a record, or a deployment that is still stored belongs to it, also an ended one.',
  },
})

export const targetOperations = {
  listTargets: targets.list,
  createTarget: targets.create,
  getTarget: targets.get,
  updateTarget: targets.update,
  deleteTarget: targets.delete,
  listTargetDeployments: op({
    method: 'GET',
    path: '/targets/{id}/deployments',
    summary: 'List the deployments that included the target, newest first',
    description:
      'Lists the deployments that included the target, newest first, also those that never reached it. `target_steps` counts the steps on this target. Users of a tenant see the deployments of the tenant only.',
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
    description:
      'Makes a token for `target-agent enrol` on a target with an agent connection (409 otherwise). It is valid for an hour, for one agent. Tokens that were made before and not used are void. An agent that is enrolled stays so until the token is used.',
    tag: 'targets',
    access: 'targets:update',
    responses: { 201: catalog.AgentToken },
  }),
  getTargetAgent: op({
    method: 'GET',
    path: '/targets/{id}/agent',
    summary: 'Read the agent of the target',
    description:
      'Shows the enrolled agent: where instances reach it, its version, its last heartbeat. 404: none is enrolled.',
    tag: 'targets',
    access: 'targets:read',
    responses: { 200: catalog.TargetAgent },
  }),
  revokeTargetAgent: op({
    method: 'DELETE',
    path: '/targets/{id}/agent',
    audit: 'target.revoke_agent',
    summary: 'Revoke the agent of the target and its unused token',
    description:
      'The credential of the agent is void at once, and so is a token that was not used. 404 also if there is neither.',
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
    {
      path: '/tags',
      summary: 'Tags in use on targets',
      description:
        'Lists every tag that a target has which the caller may see, with the number of these targets, by key and value.',
      tag: 'targets',
      access: 'tags:read',
    },
    catalog.TagRecord,
    listQueryWith('Only tags with this text in `KEY=VALUE`, in upper or lower case', 'role=w'),
  ),
} as const
