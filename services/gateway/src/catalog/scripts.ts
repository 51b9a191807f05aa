import {
  type ActionDefinition,
  type ActionTemplates,
  type FieldError,
  type Interpreter,
  pointer,
  prepareScript,
  type ScriptTemplate,
  validationProblem,
} from '@slipway/domain'
import { MAX_SCRIPT_BYTES, type ReadScript, type ScriptReader, UnreadableScript } from '@slipway/scripts'

export interface PublishedScripts {
  /** The definition with scripts that their interpreter can read. */
  definition: ActionDefinition
  places: ActionTemplates
  warnings: string[]
}

interface Script {
  field: readonly string[]
  text: string
  interpreter: Interpreter
}

const NO_TEMPLATE: ScriptTemplate = { places: [], refused: [], documents: [] }

/**
 * Reads the scripts of an action once, and finds where values are inserted.
 * @throws Problem VALIDATION_ERROR for scripts that their interpreter would read in another way than their author, and for
 * values of declared variables where a program evaluates them
 */
export async function readScripts(
  reader: Pick<ScriptReader, 'read'>,
  given: ActionDefinition,
): Promise<PublishedScripts> {
  const problems: FieldError[] = []
  const warnings: string[] = []
  const main = prepareScript(given.script, given.interpreter)
  const prepare = (field: readonly string[], text: string, interpreter: Interpreter | undefined): Script => {
    const prepared = prepareScript(text, interpreter)
    const path = pointer('definition', ...field)
    if (prepared.problem !== null) problems.push({ path, message: prepared.problem })
    const bytes = Buffer.byteLength(prepared.script)
    if (bytes > MAX_SCRIPT_BYTES) {
      problems.push({
        path,
        message: `has ${bytes} bytes, and at most ${MAX_SCRIPT_BYTES} are allowed: move parts of it into \`files\``,
      })
    }
    warnings.push(...prepared.warnings.map((warning) => `${field.join('.')}: ${warning}`))
    return { field, text: prepared.script, interpreter: prepared.interpreter }
  }

  const { rollback, check } = given
  const script = prepare(['script'], given.script, given.interpreter)
  const undo = rollback && prepare(['rollback', 'script'], rollback.script, main.interpreter)
  const checked = check && prepare(['check', 'script'], check.script, check.interpreter ?? main.interpreter)
  if (problems.length > 0) throw validationProblem(problems)

  const templateOf = async (script: Script): Promise<ScriptTemplate> => {
    const path = pointer('definition', ...script.field)
    const read = await readOrRefuse(reader, script, path)
    for (const { line, column, message } of read.warnings) {
      warnings.push(`${script.field.join('.')}, line ${line}, column ${column}: ${message}`)
    }
    if (given.templates === false) return NO_TEMPLATE
    problems.push(...templateProblems(read.template, given.variables ?? [], path))
    return read.template
  }
  const places: ActionTemplates = { script: await templateOf(script) }
  if (undo) places.rollback = await templateOf(undo)
  if (checked) places.check = await templateOf(checked)
  if (problems.length > 0) throw validationProblem(problems)

  const definition = {
    ...given,
    script: script.text,
    ...(given.interpreter === undefined && script.interpreter === 'sh' ? {} : { interpreter: script.interpreter }),
    ...(rollback && undo ? { rollback: { ...rollback, script: undo.text } } : {}),
    ...(check && checked ? { check: { ...check, script: checked.text } } : {}),
  }
  return { definition, places, warnings }
}

async function readOrRefuse(
  reader: Pick<ScriptReader, 'read'>,
  { text, interpreter }: Script,
  path: string,
): Promise<ReadScript> {
  try {
    return await reader.read(text, interpreter)
  } catch (error) {
    if (error instanceof UnreadableScript) throw validationProblem([{ path, message: error.message }])
    throw error
  }
}

/** A name that the definition does not declare may be the text of another tool: planning refuses a value for it. */
function templateProblems(
  { places, refused }: ScriptTemplate,
  variables: NonNullable<ActionDefinition['variables']>,
  path: string,
): FieldError[] {
  const types = new Map(variables.map(({ name, type = 'string' }) => [name, type]))
  return [
    ...refused
      .filter(({ name }) => types.has(name))
      .map(({ name, line, column, reason }) => ({
        path,
        message: `line ${line}, column ${column}: {{ ${name} }} ${reason}`,
      })),
    ...places
      .filter(({ name, only }) => only !== undefined && types.has(name) && types.get(name) !== 'number')
      .map(({ name, line, column }) => ({
        path,
        message: `line ${line}, column ${column}: {{ ${name} }} is evaluated there: declare the variable with type number, or use "$SLIPWAY_VAR_${name.toUpperCase()}" in a command of its own`,
      })),
  ]
}
