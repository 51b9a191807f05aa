import { type Static, Type } from '@sinclair/typebox'
import { describe, literals, Strict } from './schema.ts'

const MAX_CONDITIONS = 20
const MAX_VALUES = 50
const Key = describe(Type.String({ minLength: 1, maxLength: 255 }), 'Key of the label', 'zone')
const Value = describe(Type.String({ maxLength: 255 }), 'Value of the label', 'eu-west-1')

export const LABEL_OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const
type LabelOperator = (typeof LABEL_OPERATORS)[number]

const ValueExpression = Strict({
  key: Key,
  operator: describe(literals(['In', 'NotIn']), 'Whether the value must or must not be one of `values`', 'In'),
  values: describe(Type.Array(Value, { minItems: 1, maxItems: MAX_VALUES }), 'The values to compare with', [
    'eu-west-1',
  ]),
})
const PresenceExpression = Strict({
  key: Key,
  operator: describe(
    literals(['Exists', 'DoesNotExist']),
    'Whether the instance must or must not have the label',
    'Exists',
  ),
})

const byOperator = (rule: typeof ValueExpression | typeof PresenceExpression) => ({
  if: { properties: { operator: rule.properties.operator }, required: ['operator'] },
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  then: rule,
})

export type LabelExpression = Static<typeof ValueExpression> | Static<typeof PresenceExpression>
/** `if` and `then` make validation report problems of the given operator only. */
export const LabelExpression = Type.Unsafe<LabelExpression>({
  type: 'object',
  required: ['operator'],
  properties: { operator: literals(LABEL_OPERATORS) },
  allOf: [byOperator(ValueExpression), byOperator(PresenceExpression)],
})

/** Which instances may run a deployment, by their labels. An instance matches if it meets every condition. */
export const InstanceSelector = Strict(
  {
    match_labels: Type.Optional(
      Type.Record(Type.String({ pattern: '^[^]{1,255}$' }), Value, {
        additionalProperties: false,
        maxProperties: MAX_CONDITIONS,
        description: 'Labels that the instance has, with these values',
        examples: [{ zone: 'eu-west-1' }],
      }),
    ),
    match_expressions: Type.Optional(
      describe(
        Type.Array(LabelExpression, { maxItems: MAX_CONDITIONS }),
        'Conditions on single labels; the instance must meet all of them',
        [{ key: 'spot', operator: 'DoesNotExist' }],
      ),
    ),
  },
  {
    minProperties: 1,
    description:
      'Conditions on the labels of an instance, all of which it must meet. NotIn also accepts an instance without the label.',
  },
)

export type InstanceSelector = Static<typeof InstanceSelector>

/** Null stands for any instance. */
export type MaybeSelector = InstanceSelector | null

/** What the conditions on one key allow. `values` are the allowed values or, with `isComplement`, all but the allowed ones. */
interface Allowed {
  absent: boolean
  values: ReadonlySet<string>
  isComplement: boolean
}

export function matchesLabels(selector: MaybeSelector, labels: Readonly<Record<string, string>>): boolean {
  if (selector === null) return true
  return [...allowedByKey([selector])].every(([key, { absent, values, isComplement }]) => {
    if (!Object.hasOwn(labels, key)) return absent
    return values.has(labels[key] as string) !== isComplement
  })
}

interface CombinedSelector {
  /** In canonical form: two lists of selectors that accept the same labels give the same one. Null if it accepts all labels. */
  selector: MaybeSelector
  /** The keys for which no label, nor its absence, meets all conditions. Then no instance can match. */
  conflicts: string[]
}

/** The selector that accepts the labels that all these selectors accept. */
export function combineSelectors(selectors: Iterable<MaybeSelector>): CombinedSelector {
  const match_labels: [string, string][] = []
  const match_expressions: LabelExpression[] = []
  const conflicts: string[] = []
  const sorted = [...allowedByKey(selectors)].sort(([one], [other]) => compareText(one, other))
  for (const [key, { absent, values, isComplement }] of sorted) {
    const listed = [...values].sort(compareText)
    const [only] = listed
    if (isComplement) {
      if (!absent) match_expressions.push({ key, operator: 'Exists' })
      if (listed.length > 0) match_expressions.push({ key, operator: 'NotIn', values: listed })
    } else if (absent) match_expressions.push({ key, operator: 'DoesNotExist' })
    else if (only === undefined) conflicts.push(key)
    else if (listed.length === 1) match_labels.push([key, only])
    else match_expressions.push({ key, operator: 'In', values: listed })
  }
  const selector: InstanceSelector = {
    ...(match_labels.length > 0 ? { match_labels: Object.fromEntries(match_labels) } : {}),
    ...(match_expressions.length > 0 ? { match_expressions } : {}),
  }
  return { selector: Object.keys(selector).length > 0 ? selector : null, conflicts }
}

/** By code unit, so that the order is the same on every machine. */
const compareText = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0)

function allowedByKey(selectors: Iterable<MaybeSelector>): Map<string, Allowed> {
  const allowed = new Map<string, Allowed>()
  for (const selector of selectors) {
    for (const { key, ...condition } of conditionsOf(selector)) {
      const before = allowed.get(key)
      allowed.set(key, before === undefined ? condition : intersect(before, condition))
    }
  }
  return allowed
}

function conditionsOf(selector: MaybeSelector): (Allowed & { key: string })[] {
  const { match_labels = {}, match_expressions = [] } = selector ?? {}
  return [
    ...Object.entries(match_labels).map(([key, value]) => ({ key, ...allowedBy('In', [value]) })),
    ...match_expressions.map((one) => ({ key: one.key, ...allowedBy(one.operator, valuesOf(one)) })),
  ]
}

const valuesOf = (expression: LabelExpression) => ('values' in expression ? expression.values : [])

function allowedBy(operator: LabelOperator, values: readonly string[]): Allowed {
  switch (operator) {
    case 'In':
      return { absent: false, values: new Set(values), isComplement: false }
    case 'NotIn':
      return { absent: true, values: new Set(values), isComplement: true }
    case 'Exists':
      return { absent: false, values: new Set(), isComplement: true }
    case 'DoesNotExist':
      return { absent: true, values: new Set(), isComplement: false }
  }
}

function intersect(one: Allowed, other: Allowed): Allowed {
  const absent = one.absent && other.absent
  if (one.isComplement && other.isComplement) {
    return { absent, values: new Set([...one.values, ...other.values]), isComplement: true }
  }
  const [listed, rest] = one.isComplement ? [other, one] : [one, other]
  const values = [...listed.values].filter((value) => rest.values.has(value) !== rest.isComplement)
  return { absent, values: new Set(values), isComplement: false }
}

/** For messages, in the notation of Kubernetes: `zone=a,disk in (hdd,ssd),!spot`. */
export function selectorText(selector: MaybeSelector): string {
  const { match_labels = {}, match_expressions = [] } = selector ?? {}
  const conditions = [
    ...Object.entries(match_labels).map(([key, value]) => `${quoted(key)}=${quoted(value)}`),
    ...match_expressions.map(expressionText),
  ]
  return conditions.join(',')
}

function expressionText(expression: LabelExpression): string {
  const { key, operator } = expression
  const values = valuesOf(expression)
  const listed = values.map(quoted).join(',')
  switch (operator) {
    case 'In':
      return values.length === 1 ? `${quoted(key)}=${listed}` : `${quoted(key)} in (${listed})`
    case 'NotIn':
      return values.length === 1 ? `${quoted(key)}!=${listed}` : `${quoted(key)} notin (${listed})`
    case 'Exists':
      return quoted(key)
    case 'DoesNotExist':
      return `!${quoted(key)}`
  }
}

const quoted = (text: string) => (/^[^\s,=!()"]*$/.test(text) ? text : JSON.stringify(text))

/** Longer ones are cut. */
const MAX_NAME_LENGTH = 120

/** The name of the pool: of the instances that a selector accepts. `any` for all instances. */
export function poolName(selector: MaybeSelector): string {
  const text = selectorText(selector)
  if (text === '') return 'any'
  return text.length <= MAX_NAME_LENGTH ? text : `${text.slice(0, MAX_NAME_LENGTH - 1)}…`
}
