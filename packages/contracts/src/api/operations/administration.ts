import { Strict } from '../../schema.ts'
import * as administration from '../administration.ts'
import { amongIds, Page, PageQuery, sortBy } from '../common.ts'
import { listQuery, listQueryWith, op, recordOperations } from './operation.ts'

const users = recordOperations({
  kind: 'user',
  resource: 'users',
  path: '/admin/users',
  record: administration.UserRecord,
  create: administration.CreateUser,
  update: administration.ChangeUser,
  query: Strict({
    ...listQueryWith('Only users with this text in user name, full name or e-mail, in upper or lower case', 'ada')
      .properties,
    ...sortBy('-created_at', ['name', 'created_at']),
    ...amongIds,
  }),
  about: {
    list: 'Lists users with their roles and permissions, newest first. A user of a tenant sees the users of the tenant only.',
    create:
      'Creates a user who can log in at once, unless `status` says otherwise. The caller needs every permission of the roles (403); an unknown role is 400. A user whom a user of a tenant creates belongs to this tenant. 409: e-mail or user name is taken.',
    get: 'Shows one user with roles and permissions, never the password.',
    update:
      'Changes the fields that are sent. A new password, another tenant, and a status other than `active` end the sessions and open streams of the user. Other roles count from the next call on. Callers change their own password with changePassword (409 here).',
    delete:
      'Removes the user with sessions and API keys. Deployments and audit records keep the name. 409: the caller itself, or the last active administrator without tenant.',
  },
})
const roles = recordOperations({
  kind: 'role',
  resource: 'roles',
  path: '/admin/roles',
  record: administration.Role,
  create: administration.CreateRole,
  update: administration.ChangeRole,
  query: Strict({ ...listQuery.properties, ...sortBy('-created_at', ['name', 'created_at']) }),
  about: {
    list: 'Lists the built-in roles and those that were created here, newest first. All tenants share them.',
    create:
      'Creates a set of permissions for users. The caller needs all of these permissions, and no tenant (403). 409: the name is taken.',
    get: 'Shows one role with its permissions.',
    update:
      'Changes the fields that are sent, at once for all users with the role. The caller needs the permissions that are added, and no tenant (403). Built-in roles cannot be changed (409).',
    delete:
      'Removes a role that no user has (409). Built-in roles cannot be deleted (409). Only users without tenant may call it (403).',
  },
})

const instances = {
  list: op({
    method: 'GET',
    path: '/admin/instances',
    summary: 'List instances',
    description:
      'Lists the orchestration instances with their slots, labels and last heartbeat, newest first. A user of a tenant sees those of the tenant and those for all tenants.',
    tag: 'instances',
    access: 'instances:read',
    query: Strict({ ...listQuery.properties, ...sortBy('-created_at', ['name', 'created_at']) }),
    responses: { 200: Page(administration.Instance) },
  }),
  get: op({
    method: 'GET',
    path: '/admin/instances/{id}',
    summary: 'Read an instance',
    description: 'Shows one orchestration instance.',
    tag: 'instances',
    access: 'instances:read',
    responses: { 200: administration.Instance },
  }),
  update: op({
    method: 'PATCH',
    path: '/admin/instances/{id}',
    audit: 'instance.update',
    summary: 'Drain an instance or end its draining; change its labels',
    description:
      'An instance that drains finishes its runs and gets no new ones. Labels decide which deployments it may run. Only users without tenant may call it (403).',
    tag: 'instances',
    access: 'instances:update',
    body: administration.ChangeInstance,
    responses: { 200: administration.Instance },
  }),
  delete: op({
    method: 'DELETE',
    path: '/admin/instances/{id}',
    audit: 'instance.delete',
    summary: 'Delete an instance and release its name; without force, 409 if it is online or runs deployments',
    description:
      'Removes an instance that is gone for good. Its credential is void at once. Without `force`, 409 if it is online or runs deployments. With `force`, another instance continues these, 30 seconds after the last heartbeat. Only users without tenant may call it (403).',
    tag: 'instances',
    access: 'instances:delete',
    query: administration.RemoveInstance,
    responses: { 204: null },
  }),
}

const grants = {
  list: op({
    method: 'GET',
    path: '/instances/grants',
    summary: 'List grants to join, newest first',
    description:
      'Lists grants with their uses and ends, never their tokens. Only users without tenant may call it (403).',
    tag: 'instances',
    access: 'instances:read',
    query: Strict(PageQuery),
    responses: { 200: Page(administration.InstanceGrant) },
  }),
  create: op({
    method: 'POST',
    path: '/instances/grants',
    audit: 'instance_grant.create',
    summary: 'Get a token with which orchestration instances join',
    description:
      'Creates a grant and shows its join token, in this answer only. When omitted, the grant is for one instance and one hour. Instances that join with it may have the labels of the grant and serve its tenant. Only users without tenant may call it (403).',
    tag: 'instances',
    access: 'instances:create',
    body: administration.CreateInstanceGrant,
    bodyOptional: true,
    responses: { 201: administration.NewInstanceGrant },
  }),
  get: op({
    method: 'GET',
    path: '/instances/grants/{id}',
    summary: 'Read a grant to join',
    description: 'Shows one grant, never its token. Only users without tenant may call it (403).',
    tag: 'instances',
    access: 'instances:read',
    responses: { 200: administration.InstanceGrant },
  }),
  revoke: op({
    method: 'DELETE',
    path: '/instances/grants/{id}',
    audit: 'instance_grant.delete',
    summary: 'Revoke a grant to join; instances that joined with it stay',
    description:
      'No further instance joins with the grant. To remove an instance that has joined, delete the instance. Only users without tenant may call it (403).',
    tag: 'instances',
    access: 'instances:delete',
    responses: { 204: null },
  }),
}

export const administrationOperations = {
  listUsers: users.list,
  createUser: users.create,
  getUser: users.get,
  updateUser: users.update,
  deleteUser: users.delete,
  listRoles: roles.list,
  createRole: roles.create,
  getRole: roles.get,
  updateRole: roles.update,
  deleteRole: roles.delete,
  listInstances: instances.list,
  getInstance: instances.get,
  updateInstance: instances.update,
  deleteInstance: instances.delete,
  listInstanceGrants: grants.list,
  createInstanceGrant: grants.create,
  getInstanceGrant: grants.get,
  revokeInstanceGrant: grants.revoke,
} as const
