import type { TSchema } from '@sinclair/typebox'
import { Strict } from '../../schema.ts'
import * as administration from '../administration.ts'
import { Page, PageQuery } from '../common.ts'
import { list, op } from './operation.ts'

const records = <const R extends 'user' | 'role'>(
  kind: R,
  { record, create, change }: Record<'record' | 'create' | 'change', TSchema>,
  about: Record<'list' | 'create' | 'get' | 'update' | 'delete', string>,
) => {
  const tag = `${kind}s` as const
  const path = `/admin/${tag}` as const
  const access = <const A extends 'read' | 'create' | 'update' | 'delete'>(a: A) => `${kind}s:${a}` as const
  return {
    list: list({ path, summary: `List ${tag}`, description: about.list, tag, access: access('read') }, record),
    create: op({
      method: 'POST',
      path,
      audit: `${kind}.create` as const,
      summary: `Create a ${kind}`,
      description: about.create,
      tag,
      access: access('create'),
      body: create,
      responses: { 201: record },
    }),
    get: op({
      method: 'GET',
      path: `${path}/{id}`,
      summary: `Read a ${kind}`,
      description: about.get,
      tag,
      access: access('read'),
      responses: { 200: record },
    }),
    update: op({
      method: 'PATCH',
      path: `${path}/{id}`,
      audit: `${kind}.update` as const,
      summary: `Change a ${kind}`,
      description: about.update,
      tag,
      access: access('update'),
      body: change,
      responses: { 200: record },
    }),
    delete: op({
      method: 'DELETE',
      path: `${path}/{id}`,
      audit: `${kind}.delete` as const,
      summary: `Delete a ${kind}`,
      description: about.delete,
      tag,
      access: access('delete'),
      responses: { 204: null },
    }),
  }
}

const users = records(
  'user',
  {
    record: administration.UserRecord,
    create: administration.CreateUser,
    change: administration.ChangeUser,
  },
  {
    list: 'Lists users with their roles and permissions. `search` looks for the user name.',
    create:
      'Creates a user who can log in at once, unless `status` says otherwise. The caller needs every permission of the roles.',
    get: 'Shows one user with roles and permissions, never the password.',
    update:
      'Changes the fields that are sent. A new password, status or tenant ends the sessions and open streams of the user.',
    delete: 'Removes the user with sessions and API keys. Deployments and audit records keep the name.',
  },
)
const roles = records(
  'role',
  {
    record: administration.Role,
    create: administration.CreateRole,
    change: administration.ChangeRole,
  },
  {
    list: 'Lists the built-in roles and those that were created here.',
    create: 'Creates a set of permissions for users. The caller needs all of these permissions.',
    get: 'Shows one role with its permissions.',
    update:
      'Changes the fields that are sent, at once for all users with the role. Built-in roles cannot be changed (409).',
    delete: 'Removes a role that no user has. Built-in roles cannot be deleted (409).',
  },
)

const instances = {
  list: list(
    {
      path: '/admin/instances',
      summary: 'List instances',
      description: 'Lists the orchestration instances with their slots, labels and last heartbeat.',
      tag: 'instances',
      access: 'instances:read',
    },
    administration.Instance,
  ),
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
      'An instance that drains finishes its runs and gets no new ones. Labels decide which deployments it may run.',
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
      'Removes an instance that is gone for good. Its credential is void at once. With `force` also one that is online or runs deployments: another instance continues these.',
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
    description: 'Lists grants with their uses and ends, never their tokens.',
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
      'Creates a grant and shows its join token, in this answer only. Instances that join with it may have the labels of the grant and serve its tenant.',
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
    description: 'Shows one grant, never its token.',
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
      'No further instance joins with the grant. To remove an instance that has joined, delete the instance.',
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
