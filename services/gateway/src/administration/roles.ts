import type { ChangeRole, CreateRole, Static } from '@slipway/contracts'
import type { Transaction } from '@slipway/database'
import { conflict, isUuid, notFound } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import { changesOf, conflictIfTaken, lockRecord, pickGiven } from '../catalog/changing.ts'
import { describeTakenName, keyOfName } from '../catalog/taken-names.ts'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { answerPage, nameContains, newestOrder, pageOfNewest } from '../pages.ts'
import { requireMayGrant } from './user-rules.ts'

type Role = Awaited<ReturnType<typeof lockOwnRole>>

const toRecord = ({ id, name, description, permissions, built_in, created_at, updated_at }: Role) => ({
  ...{ id, name, description, permissions, built_in, created_at, updated_at },
})

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
          newestOrder('roles'),
          async () => (await prisma()).role.count({ where }),
          async (slice) => (await prisma()).role.findMany(pageOfNewest(where, slice)),
          (rows) => rows.map(toRecord),
        )
      },
    },

    createRole: {
      async handle(call) {
        const { name, description = null, permissions } = call.body as Static<typeof CreateRole>
        requireMayGrant(call.caller, permissions)
        const role = await conflictIfTaken(
          () => describeTakenName(database, 'role', { name }),
          () =>
            database.transaction(async (tx) => {
              const prisma = await tx.prisma()
              const data = {
                id: uuidv7(),
                name,
                ...keyOfName({ name }),
                description,
                permissions: permissions.toSorted(),
              }
              const created = await prisma.role.create({ data })
              const details = { name, permissions: created.permissions }
              await call.audit.record(tx, { resource_id: created.id, tenant_id: null, details })
              return created
            }),
        )
        return { status: 201, body: toRecord(role) }
      },
    },

    getRole: {
      async handle({ params }) {
        const id = params['id'] ?? ''
        const role = isUuid(id) ? await (await prisma()).role.findFirst({ where: { id } }) : null
        if (role === null) throw notFound('The role')
        return { status: 200, body: toRecord(role) }
      },
    },

    updateRole: {
      async handle(call) {
        const body = call.body as Static<typeof ChangeRole>
        const role = await conflictIfTaken(
          () => describeTakenName(database, 'role', { id: call.params['id'], name: body.name ?? '' }),
          () =>
            database.transaction(async (tx) => {
              const prisma = await tx.prisma()
              const old = await lockOwnRole(tx, call.params['id'] ?? '')
              const { id } = old
              const fields = pickGiven(body, ['name', 'description'])
              const permissions = body.permissions?.toSorted() ?? old.permissions
              requireMayGrant(
                call.caller,
                permissions.filter((permission) => !old.permissions.includes(permission)),
              )
              const data = { ...fields, permissions }
              const details = { changes: changesOf(old, data) }
              await call.audit.record(tx, { resource_id: id, tenant_id: null, details })
              return prisma.role.update({ where: { id }, data: { ...data, ...keyOfName(body) } })
            }),
        )
        return { status: 200, body: toRecord(role) }
      },
    },

    deleteRole: {
      async handle({ params, audit }) {
        await database.transaction(async (tx) => {
          const prisma = await tx.prisma()
          const { id, name } = await lockOwnRole(tx, params['id'] ?? '')
          const used = await prisma.userRole.findFirst({ where: { role_id: id } })
          if (used !== null) throw conflict('The role is in use: remove it from its users first')
          await prisma.role.delete({ where: { id } })
          await audit.record(tx, { resource_id: id, tenant_id: null, details: { name } })
        })
        return { status: 204 }
      },
    },
  }
}

/** Locks a role until the transaction ends. Refuses built-in roles. */
async function lockOwnRole(tx: Transaction, id: string) {
  const prisma = await tx.prisma()
  if (!isUuid(id)) throw notFound('The role')
  await lockRecord(tx, 'roles', id)
  const role = await prisma.role.findFirst({ where: { id } })
  if (role === null) throw notFound('The role')
  if (role.built_in) throw conflict('Built-in roles cannot be changed or deleted: create another one')
  return role
}
