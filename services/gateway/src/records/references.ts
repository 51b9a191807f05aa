import type { IdKind } from '@slipway/contracts'
import type { Database } from '@slipway/database'
import { visible, visibleTenants } from '@slipway/database/read-models'
import { decodeSqid, type FieldError, isUuid, missingRecords, validationProblem } from '@slipway/domain'
import type { CallingUser } from '../callers/calling-user.ts'

/** SqIds encode an int4 column. */
const MAX_NUMBER = 2 ** 31 - 1

export type RecordKey = { id: string } | { number: number }

/** The key for a UUID or a SqId; null for other texts. */
export function recordKey(kind: IdKind, text: string): RecordKey | null {
  if (isUuid(text)) return { id: text.toLowerCase() }
  const number = decodeSqid(kind, text)
  return number === null || number > MAX_NUMBER ? null : { number }
}

/** An id in a body. */
export interface Reference {
  /** JSON Pointer. */
  path: string
  kind: IdKind
  id: string
}

interface ReferredRecord {
  id: string
  number: number
  tenant_id: string | null
}

/** The records that a body refers to, by the path of each id. */
export class References {
  readonly #found: Map<string, ReferredRecord>

  private constructor(found: Map<string, ReferredRecord>) {
    this.#found = found
  }

  /**
   * Finds all records with one query per kind. A record that the caller may not see counts as missing.
   * @throws Problem NOT_FOUND that lists all missing records
   */
  static async resolve(database: Database, caller: CallingUser, references: Reference[]): Promise<References> {
    const found = new Map<string, ReferredRecord>()
    for (const kind of new Set(references.map((reference) => reference.kind))) {
      const ofKind = references.filter((reference) => reference.kind === kind)
      const records = await findRecords(database, caller, kind, ofKind)
      for (const { path, id } of ofKind) {
        const key = recordKey(kind, id)
        const record = records.find(
          (each) => key !== null && ('id' in key ? each.id === key.id : each.number === key.number),
        )
        if (record !== undefined) found.set(path, record)
      }
    }
    const missing = references.filter(({ path }) => !found.has(path))
    if (missing.length > 0) throw missingRecords(missing.map(({ path, id }) => ({ path, id })))
    return new References(found)
  }

  /** The UUID of the record; null if the body names none at this path. */
  id(path: string): string | null {
    return this.#found.get(path)?.id ?? null
  }

  /** The tenant of a record that this caller writes: that of the caller, else that of `/tenant_id`, else none. */
  tenantFor(caller: CallingUser): string | null {
    return caller.tenant_id ?? this.id('/tenant_id')
  }

  /**
   * A record may refer to shared records and to records of its tenant.
   * @throws Problem VALIDATION_ERROR that lists the other ones
   */
  requireFit(tenantId: string | null): void {
    const misfits: FieldError[] = []
    for (const [path, record] of this.#found) {
      if (path === '/tenant_id' || record.tenant_id === null || record.tenant_id === tenantId) continue
      misfits.push({ path, message: 'belongs to another tenant than the record that refers to it' })
    }
    if (misfits.length > 0) throw validationProblem(misfits)
  }
}

async function findRecords(
  database: Database,
  caller: CallingUser,
  kind: IdKind,
  references: Reference[],
): Promise<ReferredRecord[]> {
  const keys = references.map(({ id }) => recordKey(kind, id)).filter((key) => key !== null)
  const prisma = await database.prisma()
  const select = { id: true, number: true }
  if (kind === 'tenant') {
    const tenants = await prisma.tenant.findMany({ where: { OR: keys, AND: visibleTenants(caller) }, select })
    // A tenant belongs to itself.
    return tenants.map((tenant) => ({ ...tenant, tenant_id: tenant.id }))
  }
  const found = { where: { OR: keys, AND: visible(caller) }, select: { ...select, tenant_id: true } }
  if (kind === 'target') return prisma.target.findMany(found)
  if (kind === 'environment') return prisma.environment.findMany(found)
  return prisma.source.findMany({ ...found, where: { ...found.where, kind } })
}

/** The references in optional fields of a body. */
export function fieldReferences(body: object, fields: Partial<Record<string, IdKind>>): Reference[] {
  return Object.entries(fields).flatMap(([field, kind]) => {
    const id = (body as Record<string, unknown>)[field]
    return typeof id === 'string' && kind !== undefined ? [{ path: `/${field}`, kind, id }] : []
  })
}
