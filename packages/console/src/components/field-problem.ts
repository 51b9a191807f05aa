import { ValidationError } from '@slipway/client'

/** What the server says is wrong with the field at this JSON pointer, and with what is inside of it. */
export function fieldProblem(error: Error | null, pointer: string): string | undefined {
  if (!(error instanceof ValidationError)) return undefined
  const texts = error.problems.flatMap(({ path, message }) => {
    if (path === pointer) return [message]
    return path.startsWith(`${pointer}/`) ? [`${path.slice(pointer.length + 1)}: ${message}`] : []
  })
  return texts.length === 0 ? undefined : texts.join('; ')
}
