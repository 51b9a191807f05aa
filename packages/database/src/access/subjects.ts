import type { Subject } from '@slipway/domain'
import type { Queryable } from '../sql/statement.ts'
import { findSubjects } from './subjects.sql.ts'

/** A user, with the API key that it acts with. */
export interface Actor {
  user_id: string
  key_id: string | null
}

export interface PresentSubject extends Subject {
  tenant_id: string | null
}

/** What each actor may do now; null if its user is not active, or its key is gone. In the order of the list. */
export async function readSubjects(db: Queryable, actors: readonly Actor[]): Promise<(PresentSubject | null)[]> {
  const subjects: (PresentSubject | null)[] = actors.map(() => null)
  if (actors.length === 0) return subjects
  for (const row of await findSubjects.all(db, { asked: actors })) {
    const { place, tenant_id, bindings, with_key, key_is_gone, ...limits } = row
    if (key_is_gone) continue
    subjects[place - 1] = { tenant_id, bindings, key: with_key ? limits : null }
  }
  return subjects
}
