import { decodeSqid, isUuid, isVersion, isVersionRequirement, nameProblems } from '@slipway/domain'
import { _, Ajv, type AnySchemaObject, type ErrorObject, type KeywordCxt, str, type ValidateFunction } from 'ajv'
import formatsModule from 'ajv-formats'
import { boundFirst } from './bounded-schema.ts'
import { ID_KINDS, NOT_BLANK, type TSchema, VARIABLE_NAME } from './schema.ts'

const addFormats = (formatsModule as unknown as { default?: typeof formatsModule }).default ?? formatsModule

/** `path` is a JSON Pointer into the value. */
export interface SchemaProblem {
  path: string
  message: string
  /** The name of the field, if the problem is only that a top-level field is absent. */
  missing?: string
  /** How many further problems of the same kind this one stands for. */
  others?: number
}

/** Unknown fields of one object that are named. A body of 1 MiB has room for 80,000. */
const NAMED_FIELDS = 100

let shared: Ajv | undefined

/** Created for the first schema, not at the start of the process, because it takes time. */
function sharedAjv(): Ajv {
  if (shared !== undefined) return shared
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    strict: true,
    discriminator: true,
    strictTypes: false,
    strictTuples: false,
    allowUnionTypes: true,
    // Optimizing takes 40 % of the time of compiling at a start, and the code is not faster.
    code: { optimize: false },
    // Our own schemas are valid. Validating the first one takes 50 ms of CPU time (`--cpu-prof` of a start).
    validateSchema: false,
  })
  ;(addFormats as unknown as (a: Ajv, formats: string[]) => void)(ajv, ['date-time', 'email', 'uri'])
  // Counts characters only if there are more code units than allowed characters: a body may have thousands of ids.
  ajv.removeKeyword('maxLength')
  ajv.addKeyword({
    keyword: 'maxLength',
    type: 'string',
    schemaType: 'number',
    error: {
      message: ({ schemaCode }) => str`must NOT have more than ${schemaCode} characters`,
      params: ({ schemaCode }) => _`{limit: ${schemaCode}}`,
    },
    code(context: KeywordCxt) {
      const { data, schemaCode } = context
      // A character has at most two code units.
      context.fail(
        _`${data}.length > ${schemaCode} && (${data}.length > 2 * ${schemaCode} || [...${data}].length > ${schemaCode})`,
      )
    },
  })
  ajv.removeKeyword('additionalProperties')
  ajv.addKeyword({
    keyword: 'additionalProperties',
    type: 'object',
    schemaType: 'boolean',
    errors: true,
    compile: unknownFields,
  })
  ajv.addFormat('uuid', isUuid)
  ajv.addFormat('id-list', isIdList)
  ajv.addFormat('name', (text: string) => nameProblems(text).length === 0)
  ajv.addFormat('version', isVersion)
  ajv.addFormat('version-requirement', isVersionRequirement)
  for (const kind of ID_KINDS) {
    ajv.addFormat(`id-${kind}`, (text: string) => isUuid(text) || decodeSqid(kind, text) !== null)
  }
  shared = ajv
  return ajv
}

interface SchemaValidate {
  (data: object): boolean
  errors?: Partial<ErrorObject>[]
}

/** Reports the fields that a schema does not have: the first ones by name, the others as a number. */
function unknownFields(allowed: boolean, { properties, patternProperties }: AnySchemaObject): SchemaValidate {
  const known = new Set(Object.keys(properties ?? {}))
  const patterns = Object.keys(patternProperties ?? {}).map((pattern) => new RegExp(pattern, 'u'))
  const namesVariables = VARIABLE_NAME in (patternProperties ?? {})
  const isUnknown = (key: string) => !known.has(key) && !patterns.some((pattern) => pattern.test(key))
  const validate: SchemaValidate = (data: object) => {
    const unknown = allowed ? [] : Object.keys(data).filter(isUnknown)
    validate.errors = unknown.slice(0, NAMED_FIELDS).map((key, index) => {
      const others = index === NAMED_FIELDS - 1 ? unknown.length - NAMED_FIELDS : 0
      return { keyword: 'additionalProperties', params: { additionalProperty: key, namesVariables, others } }
    })
    return unknown.length === 0
  }
  return validate
}

const MOST_IDS = 100
const isIdList = (text: string) => {
  const ids = text.split(',')
  return ids.length <= MOST_IDS && ids.every((id) => /^[A-Za-z0-9-]{1,64}$/.test(id))
}

const article = (noun: string) => (/^[aeiou]/.test(noun) ? 'an' : 'a')

const FORMAT_MESSAGES: Record<string, string> = {
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

const escapePointer = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1')

function describe(error: ErrorObject): SchemaProblem | null {
  const at = error.instancePath
  switch (error.keyword) {
    case 'required': {
      const field = String(error.params['missingProperty'])
      const problem: SchemaProblem = { path: `${at}/${escapePointer(field)}`, message: 'is required' }
      return at === '' ? { ...problem, missing: field } : problem
    }
    case 'additionalProperties': {
      const { additionalProperty, namesVariables, others } = error.params
      return {
        path: `${at}/${escapePointer(String(additionalProperty))}`,
        message: namesVariables
          ? 'is not a name for a variable: use letters, digits and _, at most 128 characters'
          : 'is not a known field',
        ...(others > 0 ? { others: Number(others) } : {}),
      }
    }
    case 'format':
      return { path: at, message: FORMAT_MESSAGES[String(error.params['format'])] ?? error.message ?? 'is malformed' }
    case 'enum':
      return { path: at, message: `must be one of: ${(error.params['allowedValues'] as unknown[]).join(', ')}` }
    case 'const':
      return { path: at, message: `must be ${JSON.stringify(error.params['allowedValue'])}` }
    case 'pattern':
      if (error.params['pattern'] === NOT_BLANK) return { path: at, message: 'must not be blank' }
      return { path: at, message: error.message ?? 'is malformed' }
    case 'type':
      // The problem of `enum` lists the allowed values.
      if (Array.isArray(error.parentSchema?.['enum'])) return null
      return { path: at, message: error.message ?? 'is invalid' }
    case 'discriminator': {
      // Other rules report a tag that is absent or no text.
      if (error.params['error'] !== 'mapping') return null
      const tag = String(error.params['tag'])
      const variants = error.parentSchema?.['oneOf'] as { properties: Record<string, { const: unknown }> }[]
      const known = variants.map(({ properties }) => properties[tag]?.const)
      return { path: `${at}/${escapePointer(tag)}`, message: `must be one of: ${known.join(', ')}` }
    }
    case 'if':
      return null
    default:
      return { path: at, message: error.message ?? 'is invalid' }
  }
}

/**
 * Makes a function that lists all problems of a value. It compiles the schema at the first value: compiling all schemas of the API
 * would take 14 % of the CPU time of a start of the gateway.
 */
export function compile(schema: TSchema): (value: unknown) => SchemaProblem[] {
  let validate: ValidateFunction | undefined
  return (value) => {
    validate ??= sharedAjv().compile(boundFirst(schema)) as ValidateFunction
    if (validate(value)) return []
    const seen = new Set<string>()
    const problems: SchemaProblem[] = []
    for (const error of validate.errors ?? []) {
      const problem = describe(error)
      if (problem === null) continue
      const key = `${problem.path}\n${problem.message}`
      if (seen.has(key)) continue
      seen.add(key)
      problems.push(problem)
    }
    return problems
  }
}
