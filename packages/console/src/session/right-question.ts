import { ACTING_PERMISSIONS, type Input } from '@slipway/client'
import type { User } from './session.tsx'

type Question = NonNullable<Input<'askRight'>['query']>
export type Permission = NonNullable<Question['permission']>

/** What a right is asked for. */
export type RightObject =
  /** What is null is not asked. */
  | { kind: 'deployment'; environment_id: string | null; source?: { type: SourceType; id: string } | null }
  | { kind: 'target'; environment_id: string | null }
  | { kind: 'freeze'; environment_id: string | null; solution_id: string | null }

type SourceType = NonNullable<Question['source_type']>

/** The permissions that a user might have in a scope. */
export const askedOf = ({ permissions, role_bindings }: Pick<User, 'permissions' | 'role_bindings'>): Permission[] =>
  role_bindings.length === 0 ? [] : ACTING_PERMISSIONS.filter((permission) => !permissions.includes(permission))

export function questionOf(permission: Permission, object: RightObject | undefined): Question {
  if (object === undefined) return { permission }
  const { environment_id } = object
  const source = sourceOf(object)
  return {
    permission,
    ...(environment_id === null ? {} : { environment_id }),
    ...(source === null ? {} : { source_type: source.type, source_id: source.id }),
  }
}

function sourceOf(object: RightObject): { type: SourceType; id: string } | null {
  switch (object.kind) {
    case 'deployment':
      return object.source ?? null
    case 'freeze':
      return object.solution_id === null ? null : { type: 'solution', id: object.solution_id }
    case 'target':
      return null
  }
}

/** Whether a target or freeze names nothing. No question can ask for that, and only a right without a scope covers it. */
export const namesNothing = (object: RightObject | undefined): boolean =>
  object !== undefined &&
  object.kind !== 'deployment' &&
  object.environment_id === null &&
  (object.kind === 'target' || object.solution_id === null)
