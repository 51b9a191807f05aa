import type { PlanHead, PlannedActionRow } from '@slipway/domain'
import { statement } from '../sql/statement.ts'
import { array, json, jsonb, nullable, uuid } from '../sql/types.ts'
import { ownSql } from './visibility.ts'

/** The plans of deployments, without targets. Without a tenant: those of all tenants. */
export const findPlans = statement({
  name: 'database.compared-plans.find',
  parameters: { ids: array(uuid), tenant_id: nullable(uuid) },
  row: { id: uuid, plan_head: jsonb<PlanHead>(), actions: json<PlannedActionRow[]>() },
  sql: `SELECT d.id, d.plan_head, (SELECT coalesce(json_agg(a ORDER BY a.action_index), '[]')
               FROM deployment_actions a WHERE a.deployment_id = d.id) AS actions
      FROM deployments d WHERE d.id = ANY (:ids) AND ${ownSql('d')}`,
})
