import type { GivenRules, ShownRules, Static } from '@slipway/contracts'
import type { Records } from '@slipway/database'
import { type EnvironmentRules, type FieldError, offsetOf, validationProblem } from '@slipway/domain'
import type { Reference, References } from '../records/references.ts'
import { windowProblems } from './window-times.ts'

type Given = Static<typeof GivenRules>
type Shown = Static<typeof ShownRules>

const FROM = '/rules/promotion/from_environment_id'
const DEFAULT_EXPIRY_SECONDS = 86_400

/** Checks the windows of rules. The schema has checked the rest. */
export function ruleProblems(rules: unknown): FieldError[] {
  const { windows } = (rules ?? {}) as { windows?: unknown }
  if (!Array.isArray(windows)) return []
  return windows.flatMap((window: Record<string, unknown>, index) => {
    const { start_time, end_time, recurrence, time_zone } = window
    const offset = typeof start_time === 'string' ? offsetOf(start_time) : null
    return windowProblems({ start_time, end_time, recurrence, time_zone }, offset, `/rules/windows/${index}`)
  })
}

/** The records that rules name. A role is named by its name. */
export const ruleReferences = (rules: Given | undefined): Reference[] =>
  rules?.promotion === undefined ? [] : [{ path: FROM, kind: 'environment', id: rules.promotion.from_environment_id }]

/**
 * Rules as they are stored: roles and environments by id. Empty if nothing is asked for.
 * @throws Problem VALIDATION_ERROR for an unknown role, and for a chain of environments that leads back to this one
 */
export async function storedRules(
  prisma: Records,
  { id, rules, references }: { id: string; rules: Given; references: References },
): Promise<EnvironmentRules> {
  if (rules === null) return {}
  const { approvals, windows, promotion } = rules
  const from_environment_id = references.id(FROM)
  if (from_environment_id !== null) await requireNoLoop(prisma, id, from_environment_id)
  return {
    ...(approvals === undefined
      ? {}
      : {
          approvals: {
            count: approvals.count ?? 1,
            role: await roleId(prisma, approvals.role ?? null),
            allow_author: approvals.allow_author ?? false,
            expires_in_seconds: approvals.expires_in_seconds ?? DEFAULT_EXPIRY_SECONDS,
          },
        }),
    ...(windows === undefined
      ? {}
      : {
          windows: windows.map(({ start_time, end_time, recurrence = null, time_zone = null }) => {
            return { start_time, end_time, recurrence, time_zone }
          }),
        }),
    ...(promotion === undefined || from_environment_id === null
      ? {}
      : { promotion: { from_environment_id, hours: promotion.hours ?? 0 } }),
  }
}

async function roleId(prisma: Records, name: string | null): Promise<string | null> {
  if (name === null) return null
  const role = await prisma.role.findFirst({ where: { name }, select: { id: true } })
  if (role === null) throw validationProblem([{ path: '/rules/approvals/role', message: `there is no role "${name}"` }])
  return role.id
}

/** More environments in a chain than anybody has. */
const MAX_CHAIN = 100

async function requireNoLoop(prisma: Records, id: string, from: string): Promise<void> {
  let next: string | undefined = from
  for (let step = 0; next !== undefined; step += 1) {
    if (next === id || step === MAX_CHAIN) {
      throw validationProblem([
        { path: FROM, message: 'leads back to this environment: a version could never be first' },
      ])
    }
    const before: { rules: unknown } | null = await prisma.environment.findFirst({
      where: { id: next },
      select: { rules: true },
    })
    next = (before?.rules as EnvironmentRules | undefined)?.promotion?.from_environment_id
  }
}

/** Rules as answers show them, for many environments at once: roles by their present names. */
export async function showRules(prisma: Records, stored: readonly unknown[]): Promise<Shown[]> {
  const all = stored.map((rules) => rules as EnvironmentRules)
  const ids = all.flatMap((rules) => rules.approvals?.role ?? [])
  const roles = ids.length === 0 ? [] : await prisma.role.findMany({ where: { id: { in: ids } } })
  const names = new Map(roles.map(({ id, name }) => [id, name]))
  return all.map((rules) => {
    if (Object.keys(rules).length === 0) return null
    const { approvals, windows, promotion } = rules
    const role = approvals?.role ?? null
    return {
      ...(approvals === undefined ? {} : { approvals: { ...approvals, role: role && (names.get(role) ?? role) } }),
      ...(windows === undefined
        ? {}
        : {
            windows: windows.map(({ start_time, end_time, recurrence = null, time_zone = null }) => {
              return { start_time: String(start_time), end_time: String(end_time), recurrence, time_zone }
            }),
          }),
      ...(promotion === undefined ? {} : { promotion }),
    }
  })
}
