import { PermissionError, type SlipwayClient } from '@slipway/client'
import { listRecords, type RecordKind } from './records.ts'

const REFERENCES = {
  tenant_id: 'tenant',
  environment_id: 'environment',
  solution_id: 'solution',
} as const satisfies Record<string, RecordKind>
type Reference = keyof typeof REFERENCES
type Referring = Partial<Record<Reference, string | null>>

const FIELDS = Object.keys(REFERENCES) as Reference[]

/** Returns the name of the record with this id, or the id if the caller may not read the name. */
export type Names = (id: string | null | undefined) => string | null

/** Reads the names of the tenants, environments and solutions that the records refer to. */
export async function readNames(client: SlipwayClient, records: readonly object[]): Promise<Names> {
  const used = FIELDS.filter((field) => records.some((record: Referring) => record[field]))
  const maps = await Promise.all(used.map((field) => readNamesOfKind(client, REFERENCES[field])))
  const names = new Map(maps.flat())
  return (id) => (id ? (names.get(id) ?? id) : null)
}

async function readNamesOfKind(client: SlipwayClient, kind: 'tenant' | 'environment' | 'solution') {
  const names: [string, string][] = []
  try {
    for await (const { id, name } of listRecords(client, kind)) names.push([id, name])
  } catch (error) {
    if (!(error instanceof PermissionError)) throw error
  }
  return names
}
