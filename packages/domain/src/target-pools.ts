import {
  combineSelectors,
  type InstanceSelector,
  type MaybeSelector,
  poolName,
  selectorText,
} from './instance-selector.ts'
import { type FieldError, Problem, validationProblem } from './problem.ts'

/** A target with its own selector and those of its environment and tenant. */
export interface SelectingTarget {
  id: string
  name: string
  selectors: readonly InstanceSelector[]
}

/** The targets of a plan that need the same instances. */
export interface TargetPool {
  /** In canonical form; null: any instance. */
  selector: MaybeSelector
  targets: SelectingTarget[]
}

/** Longer selectors would make the queue slow. */
const MAX_SELECTOR_LENGTH = 16_384

/**
 * The selector of a plan, in canonical form: one instance must be able to reach all its targets.
 * @param scope the selectors of the tenant and environment of the deployment
 * @throws Problem VALIDATION_ERROR if no instance can match
 */
export function planSelector(scope: readonly InstanceSelector[], targets: readonly SelectingTarget[]): MaybeSelector {
  const groups = groupTargets(targets)
  const { selector, conflicts } = combineSelectors([...scope, ...groups.flatMap(({ selectors }) => selectors)])
  if (conflicts.length > 0) throw differentPools(scope, groups, conflicts)
  if (JSON.stringify(selector).length > MAX_SELECTOR_LENGTH) {
    const message = 'the instance selectors of the targets have too many conditions together: select fewer targets'
    throw poolProblem([{ path: '/target_ids', message }])
  }
  return selector
}

/** The pools of the targets. @throws Problem as `planSelector` */
export function targetPools(scope: readonly InstanceSelector[], targets: readonly SelectingTarget[]): TargetPool[] {
  return groupTargets(targets).map(({ selectors, targets: its }) => {
    return { selector: planSelector([...scope, ...selectors], []), targets: its }
  })
}

interface Group {
  selectors: readonly InstanceSelector[]
  targets: SelectingTarget[]
}

/** Thousands of targets have few different selectors. */
function groupTargets(targets: readonly SelectingTarget[]): Group[] {
  const groups = new Map<string, Group>()
  for (const target of targets) {
    const key = target.selectors.length === 0 ? '' : JSON.stringify(target.selectors)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { selectors: target.selectors, targets: [target] })
    else group.targets.push(target)
  }
  return [...groups.values()]
}

const NAMED_TARGETS = 20
const NAMED_POOLS = 20

function differentPools(scope: readonly InstanceSelector[], groups: readonly Group[], conflicts: string[]): Problem {
  const impossible = groups.filter(({ selectors }) => combineSelectors([...scope, ...selectors]).conflicts.length > 0)
  if (impossible.length > 0 || groups.length === 0) return contradiction(scope, impossible)
  const pools = groups.map(({ selectors, targets }) => ({
    pool: poolName(combineSelectors([...scope, ...selectors]).selector),
    target_count: targets.length,
    targets: targets.slice(0, NAMED_TARGETS).map(({ id, name }) => ({ id, name })),
  }))
  const listed = pools.slice(0, NAMED_POOLS).map(({ pool, targets }) => `${pool} (${namesOf(targets)})`)
  const message =
    `no instance reaches all targets, because their instance selectors exclude each other in ${conflicts.join(', ')}: ` +
    `deploy to each pool on its own: ${listed.join('; ')}`
  return poolProblem([{ path: '/target_ids', message }], { pools })
}

/** The selectors of the deployment itself, or of one target with its environment and tenant. */
function contradiction(scope: readonly InstanceSelector[], groups: readonly Group[]): Problem {
  const texts = (selectors: readonly InstanceSelector[]) => [...new Set(selectors.map(selectorText))].join(' and ')
  if (combineSelectors(scope).conflicts.length > 0) {
    const message = `no instance matches the instance selectors of environment and tenant together: ${texts(scope)}`
    return poolProblem([{ path: '/environment_id', message: `${message}; correct one of them` }])
  }
  const errors = groups.slice(0, NAMED_POOLS).map(({ selectors, targets }) => {
    const which = `target${targets.length === 1 ? '' : 's'} ${namesOf(targets)}`
    const message = `no instance matches the instance selectors of ${which} with its environment and tenant`
    return { path: '/target_ids', message: `${message}: ${texts([...scope, ...selectors])}; correct one of them` }
  })
  return poolProblem(errors)
}

const NAMES = 3

function namesOf(targets: readonly { name: string }[]): string {
  const names = targets.slice(0, NAMES).map(({ name }) => `"${name}"`)
  const others = targets.length - names.length
  return others === 0 ? names.join(', ') : `${names.join(', ')} and ${others} more`
}

function poolProblem(errors: FieldError[], more: { pools?: object[] } = {}): Problem {
  const { message } = validationProblem(errors)
  return new Problem('VALIDATION_ERROR', message, { errors, ...more })
}
