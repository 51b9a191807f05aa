import { attempt, isCollision, sqlState, type Transaction } from '@slipway/database'
import { isUuid, isVersion, nameKey, nameProblems } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import type { CallingUser } from '../callers/calling-user.ts'

interface StandIn {
  kind: string
  name?: unknown
  tenant_id?: unknown
  version?: unknown
}

/**
 * Inserts a record of a check in the place of one that is refused or not part of the check, so that what refers to it is checked too.
 * Returns its id; null if the caller may have no such record, or if nothing refers to this kind.
 */
export async function insertStandIn(
  tx: Transaction,
  caller: CallingUser,
  { kind, name, tenant_id: given, version }: StandIn,
): Promise<string | null> {
  const id = uuidv7()
  const tenant_id = caller.tenant_id ?? (typeof given === 'string' && isUuid(given) ? given : null)
  const prisma = await tx.prisma()
  // Messages about what refers to the record say its name, which may be taken.
  const names = typeof name === 'string' && nameProblems(name).length === 0 ? [name, id] : [id]
  for (const name of names) {
    const named = { id, name, name_key: nameKey(name) }
    const insert = async () => {
      if (kind === 'tenant') await prisma.tenant.create({ data: { ...named, slug: id } })
      else if (kind === 'environment') await prisma.environment.create({ data: { ...named, tenant_id } })
      else if (kind === 'action' || kind === 'sequence' || kind === 'solution') {
        const versions =
          typeof version === 'string' && isVersion(version) ? { versions: { create: { version, definition: {} } } } : {}
        await prisma.source.create({ data: { ...named, kind, tenant_id, ...versions } })
      }
    }
    try {
      await attempt(tx, insert)
      return id
    } catch (error) {
      refusedOr(error)
    }
  }
  return null
}

/** Inserts the version of a refused publication, unless the source has it. */
export async function insertVersionStandIn(tx: Transaction, source_id: string, version: unknown): Promise<void> {
  if (typeof version !== 'string' || !isVersion(version)) return
  const prisma = await tx.prisma()
  await attempt(tx, () => prisma.sourceVersion.create({ data: { source_id, version, definition: {} } })).catch(
    refusedOr,
  )
}

/** Null for a row that the database does not take. */
function refusedOr(error: unknown): null {
  if (sqlState(error) === null || isCollision(error)) throw error
  return null
}
