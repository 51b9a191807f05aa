import { type SchemaOptions, type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { literals, Nullable, Strict, Uuid } from '@slipway/domain'

/** Kinds of record with ids in two forms: UUID and SqId. */
export const ID_KINDS = ['action', 'sequence', 'solution', 'target', 'tenant', 'environment'] as const
export type IdKind = (typeof ID_KINDS)[number]

/** A union of objects with the literal `tag`. Validation checks only the variant that the tag names. */
export const tagged = <T extends TObject[]>(tag: string, variants: [...T]) =>
  Type.Unsafe<Static<T[number]>>({
    type: 'object',
    required: [tag],
    properties: { [tag]: { type: 'string' } },
    discriminator: { propertyName: tag },
    oneOf: variants,
  })

export const Timestamp = Type.String({ format: 'date-time' })

export const withOptions = <S extends TSchema>(schema: S, options: SchemaOptions): S => ({ ...schema, ...options })

/** An id of this kind, as a UUID or a SqId. */
export const Id = (kind: IdKind) => Type.String({ format: `id-${kind}`, maxLength: 64 })

export const Name = Type.String({ format: 'name' })
export const Description = Type.String({ maxLength: 10_000 })
/** Names a set of files that describes records. */
export const ManagerName = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._/-]*$',
  maxLength: 128,
  description: 'The name of a file set of `slipway apply`',
  examples: ['shop/catalog'],
})
export const Version = Type.String({ format: 'version', maxLength: 100 })
export const VersionRequirement = Type.String({ format: 'version-requirement', maxLength: 200 })

/** Letters, digits and underscores, because variables become environment variables. */
export const VARIABLE_NAME = '^[A-Za-z0-9_]{1,128}$'

export const NOT_BLANK = '\\S'

/** SHA-256 of content, in hex. */
export const ContentId = Type.String({ pattern: '^[0-9a-f]{64}$' })
/** Permissions of a file, in octal. */
export const FileMode = Type.String({ pattern: '^0?[0-7]{3}$' })

/** Values by variable name. The planner checks the values against the definitions. */
export const Variables = Type.Record(Type.String({ pattern: VARIABLE_NAME }), Type.Unknown(), {
  additionalProperties: false,
  maxProperties: 1_000,
})

export const Tag = Strict({
  key: Type.String({ minLength: 1, maxLength: 255 }),
  value: Type.String({ minLength: 0, maxLength: 255 }),
})

export { literals, Nullable, type Static, Strict, type TObject, type TSchema, Uuid }
