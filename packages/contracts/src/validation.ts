import { decodeSqid, isUuid, isVersion, isVersionRequirement, nameProblems } from '@slipway/domain'
import { _, Ajv, type AnySchemaObject, type ErrorObject, type KeywordCxt, type ValidateFunction } from 'ajv'
import formatsModule from 'ajv-formats'
import { boundFirst } from './bounded-schema.ts'
import { expectTypes, MOST_IDS, writeSentence } from './problem-sentences.ts'
import { ID_KINDS, type TSchema, VARIABLE_NAME } from './schema.ts'

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
    error: { message: 'is too long', params: ({ schemaCode }) => _`{limit: ${schemaCode}}` },
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
  const known: ReadonlySet<string> = new Set(Object.keys(properties ?? {}))
  const patterns = Object.keys(patternProperties ?? {}).map((pattern) => new RegExp(pattern, 'u'))
  const namesVariables = VARIABLE_NAME in (patternProperties ?? {})
  const isUnknown = (key: string) => !known.has(key) && !patterns.some((pattern) => pattern.test(key))
  const validate: SchemaValidate = (data: object) => {
    const unknown = allowed ? [] : Object.keys(data).filter(isUnknown)
    validate.errors = unknown.slice(0, NAMED_FIELDS).map((key, index) => {
      const others = index === NAMED_FIELDS - 1 ? unknown.length - NAMED_FIELDS : 0
      return { keyword: 'additionalProperties', params: { additionalProperty: key, namesVariables, others, known } }
    })
    return unknown.length === 0
  }
  return validate
}

const isIdList = (text: string) => {
  const ids = text.split(',')
  return ids.length <= MOST_IDS && ids.every((id) => /^[A-Za-z0-9-]{1,64}$/.test(id))
}

const escapePointer = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1')

function describeProblem(error: ErrorObject): SchemaProblem | null {
  const message = writeSentence(error)
  if (message === null) return null
  const at = error.instancePath
  switch (error.keyword) {
    case 'required': {
      const field = String(error.params['missingProperty'])
      const problem: SchemaProblem = { path: `${at}/${escapePointer(field)}`, message }
      return at === '' ? { ...problem, missing: field } : problem
    }
    case 'additionalProperties': {
      const { additionalProperty, others } = error.params
      const path = `${at}/${escapePointer(String(additionalProperty))}`
      return { path, message, ...(others > 0 ? { others: Number(others) } : {}) }
    }
    case 'discriminator':
      return { path: `${at}/${escapePointer(String(error.params['tag']))}`, message }
    default:
      return { path: at, message }
  }
}

/**
 * A value that fits no branch of an `anyOf` has an error for each branch, and one for the whole. The branches differ in their
 * type: only the errors of the branch that has the type of the value stay, or one that names all types.
 */
function describeUnions(errors: readonly ErrorObject[]): SchemaProblem[] {
  if (!errors.some(isUnion)) return errors.flatMap((error) => describeProblem(error) ?? [])
  // A value has as many errors as its schema has branches, however many values there are.
  const byPlace = new Map<string, ErrorObject[]>()
  for (const error of errors) {
    const beside = byPlace.get(error.instancePath)
    if (beside === undefined) byPlace.set(error.instancePath, [error])
    else beside.push(error)
  }
  return errors.flatMap((error) => {
    const beside = byPlace.get(error.instancePath) ?? []
    if (error.keyword === 'type' && beside.some((union) => isUnion(union) && isBranchOf(union, error))) return []
    if (!isUnion(error)) return describeProblem(error) ?? []
    const types = beside.filter((one) => one.keyword === 'type' && isBranchOf(error, one))
    if (types.length < (error.schema as unknown[]).length) return []
    const names = types.map(({ params }) => String(params['type']))
    return { path: error.instancePath, message: expectTypes(names, error.data) }
  })
}

const isUnion = ({ keyword }: ErrorObject) => keyword === 'anyOf'
const isBranchOf = (union: ErrorObject, { schemaPath }: ErrorObject) => schemaPath.startsWith(`${union.schemaPath}/`)

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
    for (const problem of describeUnions(validate.errors ?? [])) {
      const key = `${problem.path}\n${problem.message}`
      if (seen.has(key)) continue
      seen.add(key)
      problems.push(problem)
    }
    // A refused value is never valid, whatever sentences are missing.
    return problems.length > 0 ? problems : [{ path: '', message: 'is not valid' }]
  }
}
