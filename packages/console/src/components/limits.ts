/** A limit to some environments and solutions, as forms have it. An empty list: no limit. */
export interface Limits {
  environments: string[]
  solutions: string[]
}

interface Stored {
  environment_ids: readonly string[] | null
  solution_ids: readonly string[] | null
}

export const limitsOf = ({ environment_ids, solution_ids }: Stored): Limits => ({
  environments: [...(environment_ids ?? [])],
  solutions: [...(solution_ids ?? [])],
})

export const storedLimits = ({ environments, solutions }: Limits) => ({
  environment_ids: environments.length === 0 ? null : environments,
  solution_ids: solutions.length === 0 ? null : solutions,
})

interface Names {
  environment: (id: string) => string
  solution: (id: string) => string
}

/** Such as "in production, staging for storefront"; empty without a limit. */
export function limitWords({ environment_ids, solution_ids }: Stored, { environment, solution }: Names): string {
  const places = environment_ids === null ? [] : [`in ${listed(environment_ids.map(environment))}`]
  const sources = solution_ids === null ? [] : [`for ${listed(solution_ids.map(solution))}`]
  return [...places, ...sources].join(' ')
}

const MOST_NAMES = 5

function listed(names: readonly string[]): string {
  const rest = names.length - MOST_NAMES
  return rest > 0 ? `${names.slice(0, MOST_NAMES).join(', ')} and ${rest} more` : names.join(', ')
}
