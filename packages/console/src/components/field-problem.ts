import { ConflictError, NotFoundError, SelectorSyntaxError, ValidationError } from '@slipway/client'
import { InvalidInput } from './variables.ts'

interface Problem {
  /** A JSON pointer into the body. */
  path: string
  message: string
}

/** What an error says about single fields. */
function problemsIn(error: Error | null): readonly Problem[] {
  if (error instanceof ValidationError || error instanceof ConflictError) return error.problems
  if (error instanceof NotFoundError)
    return error.missing.map(({ path }) => ({ path, message: 'does not exist any more: choose another one' }))
  if (error instanceof InvalidInput) return [{ path: '/variables', message: error.message }]
  if (error instanceof SelectorSyntaxError) return [{ path: '/instance_selector', message: error.message }]
  return []
}

const isWithin = (path: string, pointer: string) => path === pointer || path.startsWith(`${pointer}/`)

/** What the error says about the field at this JSON pointer, and about what is inside of it. `except` have fields of their own. */
export function fieldProblem(error: Error | null, pointer: string, except: readonly string[] = []): string | undefined {
  const texts = problemsIn(error).flatMap(({ path, message }) => {
    if (path === pointer) return [message]
    if (!isWithin(path, pointer) || except.some((one) => isWithin(path, one))) return []
    return [`${path.slice(pointer.length + 1)}: ${message}`]
  })
  return texts.length === 0 ? undefined : texts.join('; ')
}

/** Asks what is wrong with the field at a pointer, and says by it that the form has this field. */
export type ProblemAt = (pointer: string, except?: readonly string[]) => string | undefined

/** The problems of a form: at its fields, and those that no field shows. */
export function fieldProblems(error: Error | null): { at: ProblemAt; rest: () => Error | null } {
  const shown: string[] = []
  return {
    at: (pointer, except) => {
      shown.push(pointer)
      return fieldProblem(error, pointer, except)
    },
    /** To be called when all fields have asked. */
    rest: () => withoutFields(error, shown),
  }
}

/** The error without what these fields show; null if that is all. */
function withoutFields(error: Error | null, pointers: readonly string[]): Error | null {
  const problems = problemsIn(error)
  const left = problems.filter(({ path }) => !pointers.some((pointer) => isWithin(path, pointer)))
  if (problems.length === 0 || left.length === problems.length) return error
  if (left.length === 0) return null
  return error instanceof ValidationError
    ? new ValidationError({ ...error, message: error.message, details: { errors: left } })
    : error
}
