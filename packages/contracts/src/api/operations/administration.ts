import type { TSchema } from '@sinclair/typebox'
import { Strict } from '../../schema.ts'
import * as administration from '../administration.ts'
import { Page, PageQuery } from '../common.ts'
import { list, op } from './operation.ts'

const records = <const R extends 'user' | 'role'>(
  kind: R,
  { record, create, change }: Record<'record' | 'create' | 'change', TSchema>,
) => {
  const tag = `${kind}s` as const
  const path = `/admin/${tag}` as const
  const access = <const A extends 'read' | 'create' | 'update' | 'delete'>(a: A) => `${kind}s:${a}` as const
  return {
    list: list({ path, summary: `List ${tag}`, tag, access: access('read') }, record),
    create: op({
      method: 'POST',
      path,
      audit: `${kind}.create` as const,
      summary: `Create a ${kind}`,
      tag,
      access: access('create'),
      body: create,
      responses: { 201: record },
    }),
    get: op({
      method: 'GET',
      path: `${path}/{id}`,
      summary: `Read a ${kind}`,
      tag,
      access: access('read'),
      responses: { 200: record },
    }),
    update: op({
      method: 'PATCH',
      path: `${path}/{id}`,
      audit: `${kind}.update` as const,
      summary: `Change a ${kind}`,
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
      tag,
      access: access('delete'),
      responses: { 204: null },
    }),
  }
}

const users = records('user', {
  record: administration.UserRecord,
  create: administration.CreateUser,
  change: administration.ChangeUser,
})
const roles = records('role', {
  record: administration.Role,
  create: administration.CreateRole,
  change: administration.ChangeRole,
})

const instances = {
  list: list(
    { path: '/admin/instances', summary: 'List instances', tag: 'instances', access: 'instances:read' },
    administration.Instance,
  ),
  get: op({
    method: 'GET',
    path: '/admin/instances/{id}',
    summary: 'Read an instance',
    tag: 'instances',
    access: 'instances:read',
    responses: { 200: administration.Instance },
  }),
  update: op({
    method: 'PATCH',
    path: '/admin/instances/{id}',
    audit: 'instance.update',
    summary: 'Drain an instance or end its draining; change its labels',
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
    tag: 'instances',
    access: 'instances:read',
    responses: { 200: administration.InstanceGrant },
  }),
  revoke: op({
    method: 'DELETE',
    path: '/instances/grants/{id}',
    audit: 'instance_grant.delete',
    summary: 'Revoke a grant to join; instances that joined with it stay',
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
