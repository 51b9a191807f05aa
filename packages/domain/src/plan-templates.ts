import type { VariableValues } from './plan-schema.ts'
import type { ValueLayers } from './plan-values.ts'
import { type FieldError, pointer } from './problem.ts'
import { namesIn, type PublishedAction, type ScriptTemplate, valueProblem } from './script-template.ts'
import { isSealed, toText } from './variables.ts'

const PLACEHOLDER = /\{\{[ \t]*[A-Za-z0-9_]+[ \t]*\}\}/

const scriptsOf = ({ script, rollback, check }: PublishedAction) => [script, rollback?.script, check?.script]

/** The templates of the scripts of an action. */
export function templatesOf({ places }: PublishedAction): ScriptTemplate[] {
  if (places === null) return []
  const { script, rollback, check } = places
  return [script, rollback, check].filter((template) => template !== undefined)
}

/** The names of all templates of an action, without duplicates. */
export const templateNames = (definition: PublishedAction): string[] => [
  ...new Set(templatesOf(definition).flatMap(namesIn)),
]

/** Values that a script would run, or that stand where nothing may be inserted. */
export function templateProblems(layers: ValueLayers): FieldError[] {
  const problems = new Map<string, FieldError>()
  for (const { action, values, path } of layers.actions) {
    const { definition, action_name, action_version } = action
    if (definition.places === null && scriptsOf(definition).some((script) => PLACEHOLDER.test(script ?? ''))) {
      const message = `version ${action_version} of action "${action_name}" was stored without its templates: publish it again`
      problems.set(path + message, { path, message })
    }
    for (const template of templatesOf(definition)) {
      for (const name of namesIn(template)) {
        for (const { path: place, value } of valuesOf(name, layers, { path, values })) {
          const problem = problemOf(template, name, value)
          const message = `action "${action_name}": ${problem}`
          if (problem !== null) problems.set(place + message, { path: place, message })
        }
      }
    }
  }
  return [...problems.values()]
}

/** A sealed value was checked when it was given. */
function problemOf(template: ScriptTemplate, name: string, value: unknown): string | null {
  if (isSealed(value))
    return template.refused.some((place) => place.name === name) ? valueProblem(template, name, '') : null
  return valueProblem(template, name, toText(value))
}

/** The values of a name that steps get: those of the highest layer that has one. */
function valuesOf(
  name: string,
  layers: ValueLayers,
  own: { path: string; values: VariableValues },
): { path: string; value: unknown }[] {
  const { prompted, promptedKeys, variables, targets, environment, tenant } = layers
  const of = (values: VariableValues, path: string) =>
    Object.hasOwn(values, name) ? [{ path, value: values[name] }] : []
  const requested =
    of(prompted, pointer('prompted_values', promptedKeys.get(name) ?? name))[0] ??
    of(variables, pointer('variables', name))[0]
  if (requested !== undefined) return [requested]
  const ofTargets = targets.targets.flatMap((target) => of(target.variables, '/target_ids'))
  if (targets.lacking(name) === 0) return ofTargets
  const shared = of(environment, '/environment_id')[0] ?? of(tenant, '/tenant_id')[0] ?? of(own.values, own.path)[0]
  return shared === undefined ? ofTargets : [...ofTargets, shared]
}
