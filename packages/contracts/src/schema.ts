import { type SchemaOptions, type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { describe, literals, Nullable, Strict, Uuid } from '@slipway/domain'
import { MOMENTS, STORY } from './story.ts'

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

export const Timestamp = Type.String({ format: 'date-time', maxLength: 64 })

/** A moment, as an ISO 8601 timestamp. */
export const Moment = (description: string, example: string = MOMENTS.created) =>
  describe(Timestamp, description, example)

export const NullableMoment = (description: string, example: string | null = MOMENTS.created) =>
  describe(Nullable(Timestamp), description, example)

export const Text = (description: string, example: string) => describe(Type.String(), description, example)
export const NullableText = (description: string, example: string | null) =>
  describe(Nullable(Type.String()), description, example)
export const Count = (description: string, example: number) => describe(Type.Integer(), description, example)
export const Flag = (description: string, example = true) => describe(Type.Boolean(), description, example)

/** The UUID of a record. */
export const Ref = (record: keyof typeof STORY, description = `The ${record}, by UUID`) =>
  describe(Uuid, description, STORY[record])
export const NullableRef = (record: keyof typeof STORY, description: string, example: string | null = STORY[record]) =>
  describe(Nullable(Uuid), description, example)

export const withOptions = <S extends TSchema>(schema: S, options: SchemaOptions): S => ({ ...schema, ...options })

/** An optional field, with the value that counts when it is omitted. */
export const Omissible = <S extends TSchema>(schema: S, value: unknown) =>
  Type.Optional(withOptions(schema, { default: value }))

/** An id of this kind, as a UUID or a SqId. */
export const Id = (kind: IdKind, description = `The ${kind}, by UUID or SqId`) =>
  describe(Type.String({ format: `id-${kind}`, maxLength: 64 }), description, STORY[kind])

export const Name = describe(
  Type.String({ format: 'name' }),
  'A name of 1 to 255 characters, without blanks at its ends, control characters and controls of the writing direction. Names that ' +
    'differ only in case, composition or invisible characters are the same name',
  'storefront',
)
export const Description = describe(
  Type.String({ maxLength: 10_000 }),
  'Free text for people, at most 10,000 characters',
  'The web shop of Acme',
)
/** Names a set of files that describes records. */
export const ManagerName = describe(
  Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._/-]*$', maxLength: 128 }),
  'The name of a file set of `slipway apply`',
  'shop/catalog',
)
export const Version = describe(Type.String({ format: 'version', maxLength: 100 }), 'A full semantic version', '1.1.0')
export const VersionRequirement = describe(
  Type.String({ format: 'version-requirement', maxLength: 200 }),
  'An npm version range. The highest version in the range counts; without a range, the highest that is no pre-release',
  '^1.0.0',
)

/** Letters, digits and underscores, because variables become environment variables. */
export const VARIABLE_NAME = '^[A-Za-z0-9_]{1,128}$'

export const NOT_BLANK = '\\S'

/** SHA-256 of content, in hex. */
export const ContentId = describe(
  Type.String({ pattern: '^[0-9a-f]{64}$' }),
  'SHA-256 of the content, in hex',
  STORY.content,
)
/** Permissions of a file, in octal. */
export const FileMode = describe(Type.String({ pattern: '^0?[0-7]{3}$' }), 'Permissions in octal', '0644')

/** Values by variable name. The planner checks the values against the definitions. */
export const Variables = Type.Record(Type.String({ pattern: VARIABLE_NAME }), Type.Unknown(), {
  additionalProperties: false,
  maxProperties: 1_000,
  description: 'Values by variable name',
  examples: [{ service: 'nginx' }],
})

export const Tag = Strict(
  {
    key: describe(Type.String({ minLength: 1, maxLength: 255 }), 'Key of the tag', 'role'),
    value: describe(Type.String({ minLength: 0, maxLength: 255 }), 'Value of the tag; may be empty', 'web'),
  },
  { description: 'A key with a value on a target. Deployments select targets by tags' },
)

export { describe, literals, Nullable, type Static, Strict, type TObject, type TSchema, Uuid }
