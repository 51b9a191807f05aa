import type { TSchema } from '@sinclair/typebox'
import * as administration from '../administration.ts'
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
} as const
