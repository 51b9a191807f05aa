import type { Queryable } from '@slipway/database'
import type { Call } from '../handler.ts'
import { recordFilter } from '../records/filters.ts'
import { findActionPlaces, findStepPlace, findTargetPlaces } from './log-search.sql.ts'

type Query = Call<'listDeploymentLogs' | 'readDeploymentLogText'>['query']

/** Which lines a search wants. Null is no condition. */
export interface LogFilter {
  targets: number[] | null
  actions: number[] | null
  level: string | null
  stream: string | null
  search: string | null
}

const STORED_STREAMS = { stdout: 'o', stderr: 'e', system: 's' } as const

export const isFiltered = ({ target_id, action_id, step_id, level, stream, search }: Query) =>
  [target_id, action_id, step_id, level, stream, search].some((one) => one !== undefined)

/** The filter of a query, with the places of target, action and step in the plan; null if the plan has no such step. */
export async function readFilter(db: Queryable, id: string, query: Query): Promise<LogFilter | null> {
  const { step_id, level = null, stream, search = null } = query
  let [targets, actions] = await Promise.all([
    targetPlaces(db, id, query.target_id),
    actionPlaces(db, id, query.action_id),
  ])
  if (step_id !== undefined) {
    const place = await findStepPlace.first(db, { id, step: step_id, targets, actions })
    targets = place === null ? [] : [place.target_index]
    actions = place === null ? [] : [place.action_index]
  }
  if (targets?.length === 0 || actions?.length === 0) return null
  return { targets, actions, level, stream: stream === undefined ? null : STORED_STREAMS[stream], search }
}

async function targetPlaces(db: Queryable, id: string, text: string | undefined): Promise<number[] | null> {
  if (text === undefined) return null
  const key = recordFilter('target', text)
  if (key === null) return []
  const rows = await findTargetPlaces.all(db, { id, target: key.id, number: key.number })
  return rows.map(({ target_index }) => target_index)
}

async function actionPlaces(db: Queryable, id: string, text: string | undefined): Promise<number[] | null> {
  if (text === undefined) return null
  const key = recordFilter('action', text)
  if (key === null) return []
  const rows = await findActionPlaces.all(db, { id, action: key.id, number: key.number })
  return rows.map(({ action_index }) => action_index)
}
