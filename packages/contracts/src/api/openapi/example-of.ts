import type { TSchema } from '@sinclair/typebox'

/** An example of the schema: its own first one, else one that is made of the examples of its parts. Undefined if a part has none. */
export function exampleOf(schema: TSchema): unknown {
  if (Array.isArray(schema['examples'])) return schema['examples'][0]
  if ('const' in schema) return schema['const']
  if (Array.isArray(schema['enum'])) return schema['enum'][0]
  if (schema['else'] !== undefined) return exampleOf(schema['else'] as TSchema)
  const [first] = (schema['anyOf'] ?? schema['oneOf'] ?? []) as TSchema[]
  if (first !== undefined) return exampleOf(first)
  if (schema['type'] === 'array') return [exampleOf(schema['items'] as TSchema)]
  if (schema['type'] === 'object') {
    const properties = Object.entries((schema['properties'] ?? {}) as Record<string, TSchema>)
    return Object.fromEntries(properties.map(([name, property]) => [name, exampleOf(property)]))
  }
  return undefined
}
