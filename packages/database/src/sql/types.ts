import { CONCURRENCY_POLICIES, DEPLOYMENT_STATES, PENDING_STATES, RELEASE_STATES, STEP_STATES } from '@slipway/domain'

declare const VALUE: unique symbol

/** A type of Postgres with its type in TypeScript. */
export interface SqlType<T> {
  /** The name in Postgres: `int4`, `uuid[]`, `deployment_state`. */
  readonly name: string
  /** `present`: the table allows null, but a condition of the statement leaves such rows out. */
  readonly nulls: 'none' | 'allowed' | 'present'
  /** All values of an enum. */
  readonly labels?: readonly string[]
  /** Converts a value for node-postgres. */
  readonly encode?: (value: never) => unknown
  /** Exists only for the compiler. */
  readonly [VALUE]?: T
}

const type = <T>(name: string, encode?: (value: T) => unknown): SqlType<T> => ({
  name,
  nulls: 'none',
  ...(encode === undefined ? {} : { encode }),
})

export const uuid = type<string>('uuid')
export const text = type<string>('text')
export const bool = type<boolean>('bool')
export const int4 = type<number>('int4')
/** A number in TypeScript: our values count events, lines and epochs, far below 2^53. */
export const int8 = type<number>('int8')
export const float8 = type<number>('float8')
export const timestamptz = type<Date>('timestamptz')
export const bytea = type<Buffer>('bytea')
export const json = <T>(): SqlType<T> => type('json', JSON.stringify)
export const jsonb = <T>(): SqlType<T> => type('jsonb', JSON.stringify)

/** An enum of the schema with all its values. With the name `text`: a text column with these values. */
export const oneOf = <const V extends readonly string[]>(name: string, labels: V): SqlType<V[number]> => ({
  ...type<V[number]>(name),
  labels,
})

export const nullable = <T>(of: SqlType<T>): SqlType<T | null> => ({ ...(of as SqlType<never>), nulls: 'allowed' })

/** A column that is nullable in the table, but not in the result, because a condition excludes such rows. */
export const present = <T>(of: SqlType<T>): SqlType<T> => ({ ...of, nulls: 'present' })

export const array = <T>(of: SqlType<T>): SqlType<T[]> =>
  type<T[]>(`${of.name}[]`, (values) =>
    /^jsonb?$/.test(of.name) ? jsonArray(values) : values.map((value) => encoded(of, value)),
  )

/**
 * An array literal of Postgres with JSON elements. The outer `stringify` adds quotes and escapes quotes and backslashes, as
 * Postgres requires: JSON text has no control characters to escape. node-postgres escapes with two regular expressions per
 * element. That takes a quarter of the dispatcher's CPU (goal: drain of the queue).
 */
const jsonArray = (values: readonly unknown[]) =>
  `{${values.map((value) => (value === null ? 'NULL' : JSON.stringify(JSON.stringify(value)))).join(',')}}`

/** Converts the value of a parameter for node-postgres. */
export const encoded = (of: SqlType<unknown>, value: unknown): unknown =>
  value === null || of.encode === undefined ? value : of.encode(value as never)

// The enums of the schema. A test compares their values with those of Postgres.
export const deploymentState = oneOf('deployment_state', DEPLOYMENT_STATES)
export const pendingStatus = oneOf('pending_status', PENDING_STATES)
export const releaseState = oneOf('release_state', RELEASE_STATES)
export const targetConcurrency = oneOf('target_concurrency', CONCURRENCY_POLICIES)
export const sourceKind = oneOf('source_kind', ['action', 'sequence', 'solution'])
export const stepState = oneOf('step_state', STEP_STATES)
