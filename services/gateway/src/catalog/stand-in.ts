import { randomInt } from 'node:crypto'
import { attempt, isForeignKeyViolation, isRowForbidden, isUniqueViolation, type Transaction } from '@slipway/database'
import { isUuid, isVersion, nameKey } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import type { CallingUser } from '../callers/calling-user.ts'

interface StandIn {
  kind: string
  tenant_id?: unknown
  version?: unknown
}

/** No sequence reaches these numbers. The largest number is that of the column. */
const NUMBERS = [2 ** 30, 2 ** 31] as const

/**
 * Inserts a record of a check in the place of one that is refused or not part of the check, so that what refers to it is checked too.
 * Its name is its id, and its number is from no sequence: no real record has or waits for them. Returns the id; null if the caller may
 * have no such record, or if nothing refers to this kind.
 */
export async function insertStandIn(
  tx: Transaction,
  caller: CallingUser,
  { kind, tenant_id: given, version }: StandIn,
): Promise<string | null> {
  const id = uuidv7()
  const tenant_id = caller.tenant_id ?? (typeof given === 'string' && isUuid(given) ? given : null)
  const prisma = await tx.prisma()
  const row = { id, number: randomInt(...NUMBERS), name: id, name_key: nameKey(id) }
  const insert = async () => {
    if (kind === 'tenant') await prisma.tenant.create({ data: { ...row, slug: id } })
    else if (kind === 'environment') await prisma.environment.create({ data: { ...row, tenant_id } })
    else if (kind === 'action' || kind === 'sequence' || kind === 'solution') {
      const versions =
        typeof version === 'string' && isVersion(version) ? { versions: { create: { version, definition: {} } } } : {}
      await prisma.source.create({ data: { ...row, kind, tenant_id, ...versions } })
    } else return null
    return id
  }
  return attempt(tx, insert).catch(nullIfRefused)
}

/** Inserts the version of a refused publication, unless the source has it. */
export async function insertVersionStandIn(tx: Transaction, source_id: string, version: unknown): Promise<void> {
  if (typeof version !== 'string' || !isVersion(version)) return
  const prisma = await tx.prisma()
  await attempt(tx, () => prisma.sourceVersion.create({ data: { source_id, version, definition: {} } })).catch(
    nullIfRefused,
  )
}

/** The database refuses the row: it is there, what it refers to is not, or the caller may not have it. */
function nullIfRefused(error: unknown): null {
  if (isUniqueViolation(error) || isForeignKeyViolation(error) || isRowForbidden(error)) return null
  throw error
}
