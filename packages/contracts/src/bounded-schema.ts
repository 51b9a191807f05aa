import type { TSchema } from '@sinclair/typebox'

/** For each kind of bound: the keywords whose work grows with the value. */
const GROWING: Record<string, readonly string[]> = {
  maxLength: ['format', 'pattern'],
  maxItems: ['items', 'uniqueItems'],
  maxProperties: ['patternProperties', 'additionalProperties'],
}

/**
 * Makes the work for any value bounded: the content of a string, array or map is checked only if its size is within the bound.
 * Without this, an array of 300,000 wrong items costs two seconds.
 */
export function boundFirst<S extends TSchema>(schema: S): S {
  return transform(schema) as S
}

function transform(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(transform)
  if (value === null || typeof value !== 'object') return value
  const node = Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, keepsData(key) ? item : transform(item)]),
  )
  const symbols = Object.fromEntries(Object.getOwnPropertySymbols(value).map((key) => [key, Reflect.get(value, key)]))
  return Object.entries(GROWING).reduce(boundOne, { ...node, ...symbols })
}

function boundOne(
  node: Record<string, unknown>,
  [bound, growing]: [string, readonly string[]],
): Record<string, unknown> {
  const limit = node[bound]
  // The items of a tuple have a schema each, so their number is bounded.
  const moved = Array.isArray(node['items']) ? [] : growing.filter((key) => key in node)
  if (typeof limit !== 'number' || moved.length === 0 || 'properties' in node) return node
  const kept = Object.fromEntries(Object.entries(node).filter(([key]) => !moved.includes(key)))
  const content = Object.fromEntries(moved.map((key) => [key, node[key]]))
  return { ...kept, allOf: [...((node['allOf'] as unknown[]) ?? []), { if: { [bound]: limit }, then: content }] }
}

/** Keywords with values that are no schemas. */
const keepsData = (key: string) => ['const', 'enum', 'default', 'examples', 'required', 'discriminator'].includes(key)
