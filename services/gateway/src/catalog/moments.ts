import { type FieldError, validationProblem } from '@slipway/domain'

/**
 * The moments of these query parameters; null for an absent one.
 * @throws Problem VALIDATION_ERROR for well-formed timestamps that do not exist, such as a leap second
 */
export function momentsOf<Name extends string>(texts: Record<Name, string | undefined>): Record<Name, Date | null> {
  const moments = Object.entries<string | undefined>(texts).map(
    ([name, text]) => [name, text === undefined ? null : new Date(text)] as const,
  )
  const problems = moments.flatMap(([name, moment]): FieldError[] =>
    Number.isNaN(moment?.getTime()) ? [{ path: `query/${name}`, message: 'must be a moment that exists' }] : [],
  )
  if (problems.length > 0) throw validationProblem(problems)
  return Object.fromEntries(moments) as Record<Name, Date | null>
}
