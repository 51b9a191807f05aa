import type { VariableValues } from './plan-schema.ts'
import type { ValueLayers } from './plan-values.ts'
import { type FieldError, pointer } from './problem.ts'
import type { ResolvedAction } from './source.ts'
import { environmentName, isSealed, toText } from './variables.ts'

/** Linux starts no program with more than 2 MiB of variables and arguments. Targets and transports add their own. */
const MAX_COMMAND_BYTES = 1024 * 1024

type Sizes = ReadonlyMap<string, number>

/** Commands whose variables and inserted values are too large together. Names the largest variable. */
export function commandSizeProblems(layers: ValueLayers): FieldError[] {
  const shared = [layers.tenant, layers.environment].map(sizesOf)
  const targets = layers.targets.targets.map(({ target, variables }) => ({
    name: target.name,
    sizes: sizesOf(variables),
  }))
  const request = [layers.variables, layers.prompted].map(sizesOf)
  const ofTargets = Math.max(0, ...targets.map(({ sizes }) => sum(sizes)))
  const ofOthers = [...shared, ...request].map(sum).reduce((all, one) => all + one, ofTargets)
  return layers.actions.flatMap(({ action, values, path }) => {
    const own = sizesOf(values)
    const uses = usesOf(action)
    const fixed = sizeOfEnvironment(action)
    const mostUses = Math.max(1, ...uses.values())
    // Most commands are far below the limit, and thousands of targets need no closer look.
    if (fixed + (ofOthers + sum(own)) * mostUses <= MAX_COMMAND_BYTES) return []
    const nobody = { name: null, sizes: new Map<string, number>() }
    for (const { name, sizes } of [nobody, ...targets]) {
      const merged = [own, ...shared, sizes, ...request].flatMap((layer) => [...layer])
      const used = [...new Map(merged)].map(([variable, bytes]) => ({
        variable,
        bytes: bytes * (uses.get(variable) ?? 1),
      }))
      const total = used.reduce((all, { bytes }) => all + bytes, fixed)
      if (total <= MAX_COMMAND_BYTES) continue
      const largest = used.reduce((a, b) => (b.bytes > a.bytes ? b : a), { variable: '', bytes: 0 })
      const where = name === null ? '' : ` on target "${name}"`
      const what = `the variables of action "${action.action_name}"${where} have ${total} bytes where they are used`
      const next = 'put large texts into `files`'
      const message = `${what}, more than ${MAX_COMMAND_BYTES}; the largest is "${largest.variable}" with ${largest.bytes}: ${next}`
      return [{ path: pathOf(largest.variable, layers) ?? path, message }]
    }
    return []
  })
}

function pathOf(name: string, { variables, prompted, promptedKeys }: ValueLayers): string | null {
  if (Object.hasOwn(prompted, name)) return pointer('prompted_values', promptedKeys.get(name) ?? name)
  return Object.hasOwn(variables, name) ? pointer('variables', name) : null
}

const sum = (sizes: Sizes) => [...sizes.values()].reduce((all, bytes) => all + bytes, 0)

function sizesOf(values: VariableValues): Sizes {
  return new Map(
    Object.entries(values).map(([name, value]) => [
      name,
      isSealed(value) ? 0 : environmentName(name).length + 2 + Buffer.byteLength(toText(value)),
    ]),
  )
}

function sizeOfEnvironment({ definition: { env = {} } }: ResolvedAction): number {
  return Object.entries(env).reduce((all, [name, text]) => all + name.length + 2 + Buffer.byteLength(text), 0)
}

/** How often a command contains the value of each name: in the environment, and where its script inserts the value. */
function usesOf({ definition: { places } }: ResolvedAction): Sizes {
  const most = new Map<string, number>()
  for (const template of [places?.script, places?.rollback, places?.check]) {
    const uses = new Map<string, number>()
    for (const { name, encoding } of template?.places ?? []) {
      // A shell script gets one assignment for all places of a name.
      uses.set(name, encoding.startsWith('shell-') ? 2 : (uses.get(name) ?? 1) + 1)
    }
    for (const [name, count] of uses) most.set(name, Math.max(count, most.get(name) ?? 1))
  }
  return most
}
