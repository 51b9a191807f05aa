import { type SchemaOptions, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox'

/** An object schema that refuses unknown fields: a misspelt field must never be ignored. */
export const Strict = <P extends TProperties>(properties: P, options: SchemaOptions = {}): TObject<P> =>
  Type.Object(properties, { additionalProperties: false, ...options })

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

export const Uuid = Type.String({ format: 'uuid' })

export const literals = <const T extends readonly string[]>(values: T, options: SchemaOptions = {}) =>
  Type.Unsafe<T[number]>(Type.String({ enum: [...values], ...options }))

/** Adds what the OpenAPI document says about a value: its meaning and unit, and valid examples, the most usual one first. */
export const describe = <S extends TSchema>(schema: S, description: string, ...examples: unknown[]): S => ({
  ...schema,
  description,
  ...(examples.length === 0 ? {} : { examples }),
})
