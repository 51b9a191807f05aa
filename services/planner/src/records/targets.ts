import type { Queryable, RowOf } from '@slipway/database'
import type { Viewer } from '@slipway/database/read-models'
import { decodeSqid, isUuid, type TargetTag } from '@slipway/domain'
import { references } from './ids.ts'
import { findTags, findTargets } from './targets.sql.ts'

export interface TargetRecord extends RowOf<typeof findTargets> {
  /** The tags that match the selection; null if none does. */
  tags: TargetTag[] | null
}

/** The selection of a request, with ids as the request writes them. */
interface RequestedTargets {
  target_ids: readonly string[]
  target_tags: readonly TargetTag[]
}

export interface TargetCandidates {
  /** By UUID. */
  records: Map<string, TargetRecord>
  /** The UUID of each given id, in order; undefined for an id that names no candidate. */
  uuids: (string | undefined)[]
}

/** Every target that the caller may use and that the request names or that has one of its tags. */
export async function loadTargets(
  database: Queryable,
  caller: Viewer,
  { target_ids, target_tags }: RequestedTargets,
): Promise<TargetCandidates> {
  const { uuids, numbers } = references('target', target_ids)
  const tagged = await loadTags(database, target_tags)
  const ids = [...uuids, ...tagged.keys()]
  const targets = await findTargets.all(database, { tenant_id: caller.tenant_id, ids, numbers })
  const records = new Map(targets.map((target) => [target.id, { ...target, tags: tagged.get(target.id) ?? null }]))
  const byNumber = new Map(targets.map(({ number, id }) => [number, id]))
  const uuidOf = (id: string) => {
    const uuid = isUuid(id) ? id.toLowerCase() : byNumber.get(decodeSqid('target', id) ?? -1)
    return uuid !== undefined && records.has(uuid) ? uuid : undefined
  }
  return { records, uuids: target_ids.map(uuidOf) }
}

async function loadTags(database: Queryable, tags: readonly TargetTag[]): Promise<Map<string, TargetTag[]>> {
  if (tags.length === 0) return new Map()
  const keys = tags.map(({ key }) => key)
  const found = await findTags.all(database, { keys, values: tags.map(({ value }) => value) })
  return new Map(found.map((target) => [target.target_id, target.tags]))
}
