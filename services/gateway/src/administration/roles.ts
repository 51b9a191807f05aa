import type { ChangeRole, CreateRole, Static } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { conflict, isUuid, notFound } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import { changesOf, given, orTaken } from '../catalog/changing.ts'
import { answerPage, NEWEST_FIRST, nameContains } from '../catalog/listing.ts'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../http/handler.ts'
import { requireMayGive } from './user-rules.ts'

interface RoleRow {
  id: string
  name: string
  description: string | null
  permissions: string[]
  built_in: boolean
  created_at: Date
  updated_at: Date
}

const COLUMNS = 'id, name, description, permissions, built_in, created_at, updated_at'
const shown = ({ id, name, description, permissions, built_in, created_at, updated_at }: RoleRow) => ({
  ...{ id, name, description, permissions, built_in, created_at, updated_at },
})
const taken = (name: string) => `There is already a role named "${name}"`

/** Roles are those of the whole installation: everybody reads them, users of no tenant administer them. */
export function roleHandlers({
  database,
}: Dependencies): HandlersOf<'listRoles' | 'createRole' | 'getRole' | 'updateRole' | 'deleteRole'> {
  const { prisma } = database
  return {
    listRoles: {
      handle({ query }) {
        const where = nameContains(query.search)
        return answerPage(
          query,
          async () => (await prisma()).role.count({ where }),
          async (slice) =>
            (await (await prisma()).role.findMany({ where, orderBy: NEWEST_FIRST, ...slice })).map(shown),
        )
      },
    },

    createRole: {
      async handle(call) {
        const { name, description = null, permissions } = call.body as Static<typeof CreateRole>
        requireMayGive(call.caller, permissions)
        const role = await orTaken(taken(name), () =>
          database.transaction(async (tx) => {
            const { rows } = await tx.query<RoleRow>(
              `INSERT INTO roles (id, name, description, permissions) VALUES ($1, $2, $3, $4) RETURNING ${COLUMNS}`,
              [uuidv7(), name, description, permissions.toSorted()],
            )
            const created = rows[0] as RoleRow
            const details = { name, permissions: created.permissions }
            await call.audit.record(tx, { resource_id: created.id, tenant_id: null, details })
            return created
          }),
        )
        return { status: 201, body: shown(role) }
      },
    },

    getRole: {
      async handle({ params }) {
        const id = params['id'] ?? ''
        const role = isUuid(id) ? await (await prisma()).role.findFirst({ where: { id } }) : null
        if (role === null) throw notFound('The role')
        return { status: 200, body: shown(role) }
      },
    },

    updateRole: {
      async handle(call) {
        const body = call.body as Static<typeof ChangeRole>
        const role = await orTaken(taken(body.name ?? ''), () =>
          database.transaction(async (tx) => {
            const old = await lockOwnRole(tx, call.params['id'] ?? '')
            const { id, built_in: _, ...fields } = { ...old, ...given(body, ['name', 'description']) }
            const permissions = body.permissions?.toSorted() ?? old.permissions
            requireMayGive(
              call.caller,
              permissions.filter((permission) => !old.permissions.includes(permission)),
            )
            const { rows } = await tx.query<RoleRow>(
              `UPDATE roles SET name = $2, description = $3, permissions = $4, updated_at = now() WHERE id = $1
               RETURNING ${COLUMNS}`,
              [id, fields.name, fields.description, permissions],
            )
            const details = { changes: changesOf(old, { ...given(body, ['name', 'description']), permissions }) }
            await call.audit.record(tx, { resource_id: id, tenant_id: null, details })
            return rows[0] as RoleRow
          }),
        )
        return { status: 200, body: shown(role) }
      },
    },

    deleteRole: {
      async handle({ params, audit }) {
        await database.transaction(async (tx) => {
          const { id, name } = await lockOwnRole(tx, params['id'] ?? '')
          const { rowCount } = await tx.query('SELECT FROM user_roles WHERE role_id = $1 LIMIT 1', [id])
          if (rowCount !== 0) throw conflict('The role is in use: take it from its users first')
          await tx.query('DELETE FROM roles WHERE id = $1', [id])
          await audit.record(tx, { resource_id: id, tenant_id: null, details: { name } })
        })
        return { status: 204 }
      },
    },
  }
}

/** A role that is not built in, locked until the transaction ends: nobody is given it meanwhile. */
async function lockOwnRole(tx: Queryable, id: string): Promise<RoleRow> {
  const { rows } = isUuid(id)
    ? await tx.query<RoleRow>(`SELECT ${COLUMNS} FROM roles WHERE id = $1 FOR UPDATE`, [id])
    : { rows: [] }
  const [role] = rows
  if (role === undefined) throw notFound('The role')
  if (role.built_in) throw conflict('Built-in roles cannot be changed or deleted: create another one')
  return role
}
