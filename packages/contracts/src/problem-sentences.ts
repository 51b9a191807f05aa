import { suggest } from '@slipway/domain'
import type { ErrorObject } from 'ajv'
import { ID_KINDS, NOT_BLANK, VARIABLE_NAME } from './schema.ts'

/** What people read of a wrong value: the sentence follows the name of the field and a colon. */

export const MOST_IDS = 100
/** A person reads a list of so many words. Of a longer one, a similar word says more. */
const LISTED_WORDS = 12

const NOUNS: Record<string, string> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object with fields',
  null: 'null',
}

const article = (noun: string) => (/^[aeiou]/.test(noun) ? 'an' : 'a')

/** Exported, so that a test finds a format without a sentence. */
export const FORMAT_SENTENCES: Record<string, string> = {
  uuid: 'must be a UUID',
  'id-list': `must be 1 to ${MOST_IDS} ids (UUIDs or SqIds), separated by commas`,
  name: 'must be 1 to 255 characters with a visible one, without blanks at its ends, control characters and controls of the writing direction',
  version: 'must be a full semantic version, for example 1.4.0',
  'version-requirement': 'must be an npm version range, for example ^1.2.0',
  'date-time': 'must be an ISO 8601 timestamp with a zone, for example 2026-01-31T09:00:00Z',
  email: 'must be an e-mail address',
  ...Object.fromEntries(
    ID_KINDS.map((kind) => [`id-${kind}`, `must be the id of ${article(kind)} ${kind} (a UUID or a SqId)`]),
  ),
}

/** By the pattern of a schema. Exported, so that a test finds a pattern without a sentence. */
export const PATTERN_SENTENCES: Record<string, string> = {
  [NOT_BLANK]: 'must not be blank',
  [VARIABLE_NAME]: 'must be the name of a variable: 1 to 128 letters, digits and _',
  '^[1-9][0-9]{3,4}$': 'must be a port from 1000 to 65535',
  '^[A-Za-z0-9_-]{43}$': 'must be the base64url of a SHA-256: 43 letters, digits, - and _',
  '^[A-Za-z0-9._~-]{1,512}$': 'must be 1 to 512 letters, digits and . _ ~ -',
  '^[A-Za-z0-9._~-]{43,128}$': 'must be 43 to 128 letters, digits and . _ ~ -',
  '^[+-]?[0-9]{1,18}$': 'must be a whole number',
  '^[0-9]{1,15}$': 'must be a whole number from 0',
  '^[A-Za-z0-9_-]{1,8192}$': 'must be the next_cursor of an answer, or "start"',
  '^p[0-9]{1,3}\\.[A-Za-z0-9_-]{1,64}(\\.[A-Za-z0-9_-]{12}){1,32}$': 'must be the plan_hash of a preview',
  '^[^=]+(=|$)': 'must be KEY=VALUE, or KEY alone for every value',
  '^[A-Za-z0-9][A-Za-z0-9._/-]*$': 'must be letters, digits and . _ / -, with a letter or digit first',
  '^[0-9a-f]{64}$': 'must be the SHA-256 of content: 64 hexadecimal digits in lower case',
  '^0?[0-7]{3}$': 'must be permissions in octal, for example "0644"',
  '^[^\\s]+$': 'must not contain blanks',
  '^[a-z0-9]+(-[a-z0-9]+)*$': 'must be lower-case letters and digits, with single hyphens between them',
  '^whsec_([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$':
    'must be whsec_ and the base64 of 24 to 64 bytes',
  '^[^,]{0,255}$': 'must be at most 255 characters, without commas',
  '^[a-z_]+[.][a-z0-9_]+(,[a-z_]+[.][a-z0-9_]+){0,49}$':
    'must be 1 to 50 actions, separated by commas, for example auth.refresh,auth.login',
  '^[!-~]{1,255}$': 'must be 1 to 255 visible characters',
  '^[a-z0-9-]{1,64}$': 'must be 1 to 64 lower-case letters, digits and hyphens',
}

/** Keywords whose failure is said by the rules inside them. */
export const SILENT_KEYWORDS: ReadonlySet<string> = new Set(['if', 'allOf'])

/** Returns the sentence about a failed keyword, or null if another failure says it. */
export function writeSentence({ keyword, params, data, parentSchema, message }: ErrorObject): string | null {
  switch (keyword) {
    case 'required':
      return 'is required'
    case 'additionalProperties':
      return describeUnknownField(params)
    case 'type':
      // The sentence about `enum` lists the allowed values.
      if (Array.isArray(parentSchema?.['enum'])) return null
      return expectTypes([params['type']].flat().map(String), data)
    case 'enum':
      return describeChoices(params['allowedValues'] as unknown[], data)
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`
    case 'format':
      return FORMAT_SENTENCES[String(params['format'])] ?? 'has a wrong form'
    case 'pattern':
      return PATTERN_SENTENCES[String(params['pattern'])] ?? 'has a wrong form'
    case 'minimum':
    case 'maximum':
      return `must be ${describeRange(parentSchema ?? {})}, this is ${data}`
    case 'minLength':
      return params['limit'] === 1 ? 'must not be empty' : `needs at least ${params['limit']} characters`
    case 'maxLength':
      return `may have at most ${params['limit']} characters`
    case 'minItems':
      return `needs at least ${count(params['limit'], 'entry', 'entries')}`
    case 'maxItems':
      return `may have at most ${count(params['limit'], 'entry', 'entries')}, this has ${sizeOf(data)}`
    case 'uniqueItems':
      return `has the same entry twice: entries ${[params['i'] + 1, params['j'] + 1].sort((a, b) => a - b).join(' and ')}`
    case 'minProperties':
      return `needs at least ${count(params['limit'], 'field', 'fields')}`
    case 'maxProperties':
      return `may have at most ${count(params['limit'], 'field', 'fields')}, this has ${sizeOf(data)}`
    case 'discriminator': {
      // Other rules report a tag that is absent or no text.
      if (params['error'] !== 'mapping') return null
      const variants = parentSchema?.['oneOf'] as { properties: Record<string, { const: unknown }> }[]
      return describeChoices(
        variants.map(({ properties }) => properties[String(params['tag'])]?.const),
        params['tagValue'],
      )
    }
    default:
      return SILENT_KEYWORDS.has(keyword) ? null : (message ?? 'is not valid')
  }
}

/** For example `a list is expected, this is a text`. */
export const expectTypes = (types: readonly string[], data: unknown): string =>
  `${types.map((type) => NOUNS[type] ?? type).join(' or ')} is expected, this is ${nameType(data)}`

/** A number that is not whole is a number, and of the numbers the whole ones need no name of their own. */
function nameType(data: unknown): string {
  if (data === null) return 'null'
  if (Array.isArray(data)) return 'a list'
  if (typeof data === 'boolean') return String(data)
  return NOUNS[typeof data] ?? typeof data
}

function describeUnknownField({ additionalProperty, namesVariables, known }: ErrorObject['params']): string {
  if (namesVariables) return 'is not a name for a variable: use letters, digits and _, at most 128 characters'
  return `is not a known field${suggest(String(additionalProperty), known)}`
}

function describeChoices(allowed: readonly unknown[], data: unknown): string {
  const hint = typeof data === 'string' ? suggest(data, allowed.map(String)) : ''
  if (allowed.length > LISTED_WORDS && hint !== '') return `is not a known value${hint}`
  return `must be one of: ${allowed.join(', ')}${hint}`
}

function describeRange({ minimum, maximum }: Record<string, unknown>): string {
  if (minimum === undefined) return `at most ${maximum}`
  return maximum === undefined ? `at least ${minimum}` : `from ${minimum} to ${maximum}`
}

const count = (limit: number, one: string, many: string) => `${limit === 1 ? 'one' : limit} ${limit === 1 ? one : many}`
const sizeOf = (data: unknown) => Object.keys(Object(data)).length
