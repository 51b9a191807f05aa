import type { Answer } from '@slipway/client'

interface Source {
  solution_name?: string | null
  solution_version?: string | null
  sequence_name?: string | null
  sequence_version?: string | null
  action_name?: string | null
  action_version?: string | null
}

/** What a deployment deploys, such as "web 1.2.0". */
export function sourceName(deployment: Source): string {
  const name = deployment.solution_name ?? deployment.sequence_name ?? deployment.action_name ?? 'unknown source'
  const version = deployment.solution_version ?? deployment.sequence_version ?? deployment.action_version
  return version ? `${name} ${version}` : name
}

type Request = Pick<Answer<'listPending'>[number], 'source_name' | 'source_version'>

/** What a request in the queue deploys. */
export const requestSourceName = ({ source_name, source_version }: Request): string =>
  `${source_name} ${source_version}`
