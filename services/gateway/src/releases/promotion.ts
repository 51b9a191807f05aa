import {
  array,
  type Database,
  findPromotions,
  jsonb,
  nullable,
  statement,
  text,
  timestamptz,
  uuid,
} from '@slipway/database'
import { ownSql, visibleSql } from '@slipway/database/read-models'
import { type EnvironmentRules, missingRecords } from '@slipway/domain'
import { promotableOf } from '@slipway/engine'
import type { Answer } from '@slipway/http'
import type { Call } from '../handler.ts'
import { References } from '../records/references.ts'

const findRule = statement({
  name: 'gateway.releases.find-promotion-rule',
  parameters: { from: uuid, to: uuid },
  row: { from_name: text, rules: jsonb<EnvironmentRules>(), now: timestamptz },
  sql: `SELECT f.name AS from_name, t.rules, now() AS now FROM environments f, environments t WHERE f.id = :from AND t.id = :to`,
})

/** A deployment that put the version in force in the first environment, and the targets of the second one with the source. */
const findPlaces = statement({
  name: 'gateway.releases.find-promotion-places',
  parameters: {
    from: uuid,
    to: uuid,
    source_id: uuid,
    version: nullable(text),
    variant: nullable(text),
    tenant_id: nullable(uuid),
  },
  row: { deployment_id: nullable(uuid), target_ids: array(uuid) },
  sql: `WITH placed AS (
      SELECT t.id AS target_id, t.environment_id, r.deployment_id, r.source_version, r.variant, r.ended_at
        FROM targets t
        JOIN release_heads h ON h.target_id = t.id AND h.source_id = :source_id
        JOIN releases r ON r.deployment_id = h.current_deployment_id AND r.target_id = t.id
       WHERE t.environment_id IN (:from::uuid, :to::uuid) AND ${visibleSql('t')} AND ${ownSql('r')})
    SELECT (SELECT deployment_id FROM placed
             WHERE environment_id = :from AND source_version = :version AND variant IS NOT DISTINCT FROM :variant
             ORDER BY ended_at DESC LIMIT 1) AS deployment_id,
           ARRAY(SELECT target_id FROM placed WHERE environment_id = :to ORDER BY target_id) AS target_ids`,
})

/** Which version of a source may go from one environment to another, by what is in force and by the rule of the second one. */
export async function getPromotion(database: Database, { caller, query }: Call<'getPromotion'>): Promise<Answer> {
  const references = await References.resolve(database, caller, [
    { path: 'query/source_id', kind: query.source_type, id: query.source_id },
    { path: 'query/from_environment_id', kind: 'environment', id: query.from_environment_id },
    { path: 'query/to_environment_id', kind: 'environment', id: query.to_environment_id },
  ])
  const source_id = references.id('query/source_id') ?? ''
  const from = references.id('query/from_environment_id') ?? ''
  const to = references.id('query/to_environment_id') ?? ''
  const { tenant_id } = caller
  const asked = { environment_id: to, from_environment_id: from, source_id, version: '', variant: null, tenant_id }
  const [rule, state] = await Promise.all([
    findRule.first(database, { from, to }),
    findPromotions.one(database, { asked: [asked] }),
  ])
  if (rule === null) throw missingRecords([{ path: 'query/to_environment_id', id: to }])
  const { promotion } = rule.rules
  const hours = promotion?.from_environment_id === from ? promotion.hours : 0
  const promotable = promotableOf(
    { ...state, versions: state.versions ?? [] },
    { from: rule.from_name, hours, at: rule.now },
  )
  const { version = null, variant = null } = promotable.found ?? {}
  const places = await findPlaces.one(database, { from, to, source_id, version, variant, tenant_id })
  return {
    status: 200,
    body: {
      version,
      since: promotable.since,
      ready_at: promotable.ready_at,
      deployment_id: version === null ? null : places.deployment_id,
      blockers: promotable.blockers,
      target_ids: places.target_ids,
    },
  }
}
