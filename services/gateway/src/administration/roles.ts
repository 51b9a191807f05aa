import type { ChangeRole, CreateRole, Static } from '@slipway/contracts'
import { conflict, EVERYWHERE } from '@slipway/domain'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { nameContains } from '../pages.ts'
import { changesOf, orNull, pickGiven } from '../records/changes.ts'
import { type Change, type Creation, recordHandlers } from '../records/handlers.ts'
import { type RecordOf, recordKind } from '../records/kind.ts'
import { keyOfName, OF_INSTALLATION } from '../records/names.ts'
import { INSTALLATION } from '../records/ownership.ts'
import { tableOf } from '../records/table.ts'
import { requireMayGive } from './user-rules.ts'

const ROLE = recordKind({
  name: 'role',
  resource: 'roles',
  table: tableOf('role', {}),
  owner: INSTALLATION,
  uniqueName: OF_INSTALLATION,
})

type Role = RecordOf<typeof ROLE>
type RoleOperation = `${'create' | 'get' | 'update' | 'delete'}Role` | 'listRoles'

export function roleHandlers(dependencies: Dependencies): HandlersOf<RoleOperation> {
  const handlers = recordHandlers(dependencies, ROLE, {
    show: (rows) => rows.map(({ name_key: _, ...role }) => role),
    matching: ({ search }) => nameContains(search),
    async create({ caller, id, body }: Creation<Static<typeof CreateRole>>) {
      requireMayGive(caller, [{ role: body.name, role_id: id, permissions: body.permissions, ...EVERYWHERE }])
      const permissions = body.permissions.toSorted()
      return {
        columns: { id, name: body.name, ...keyOfName(body), ...orNull(body, ['description']), permissions },
        details: { name: body.name, permissions },
      }
    },
    async update({ caller, old, body }: Change<Role, Static<typeof ChangeRole>>) {
      requireOwnRole(old)
      const permissions = body.permissions?.toSorted() ?? old.permissions
      const former = new Set(old.permissions)
      const isRenamed = body.name !== undefined && body.name !== old.name
      // Rules of login providers name roles: under another name, a role may be given to other users.
      const given = isRenamed ? permissions : permissions.filter((permission) => !former.has(permission))
      requireMayGive(caller, [{ role: old.name, role_id: old.id, permissions: given, ...EVERYWHERE }])
      const fields = { ...pickGiven(body, ['name', 'description']), permissions }
      return { columns: { ...fields, ...keyOfName(body) }, details: { changes: changesOf(old, fields) } }
    },
    async beforeDelete({ prisma, old }) {
      requireOwnRole(old)
      const used = await prisma.userRole.findFirst({ where: { role_id: old.id } })
      const bound = await prisma.roleBinding.findFirst({ where: { role_id: old.id } })
      if (used !== null || bound !== null) throw conflict('The role is in use: remove it from its users first')
      const rule = { path: ['approvals', 'role'], equals: old.id }
      const asking = await prisma.environment.findFirst({ where: { rules: rule }, select: { name: true } })
      if (asking !== null) throw conflict(`The role is in use by the rules of the environment "${asking.name}"`)
    },
    deleted: ({ name }) => ({ name }),
  })
  return {
    listRoles: handlers.list,
    createRole: handlers.create,
    getRole: handlers.get,
    updateRole: handlers.update,
    deleteRole: handlers.delete,
  }
}

/** @throws Problem CONFLICT for a built-in role */
function requireOwnRole({ built_in }: Role): void {
  if (built_in) throw conflict('Built-in roles cannot be changed or deleted: create another one')
}
