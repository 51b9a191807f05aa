import { counted } from './counted.ts'

interface Changed {
  solution_version?: string | null
  sequence_version?: string | null
  action_version?: string | null
  /** The versions that it replaced on its targets. */
  previous_versions: readonly string[]
  target_count: number
}

/** What a deployment changed and where, such as "1.4.0 → 1.5.0, 6 targets". */
export function changeWords({ previous_versions, target_count, ...versions }: Changed): string {
  const version = versions.solution_version ?? versions.sequence_version ?? versions.action_version ?? '?'
  const targets = counted(target_count, 'target')
  const replaced = previous_versions.filter((previous) => previous !== version)
  if (replaced.length > 0) return `${replaced.join(', ')} → ${version}, ${targets}`
  return previous_versions.length > 0 ? `${version} again, ${targets}` : targets
}

/** Who started it: a user, or the API key of a pipeline. */
export const startedBy = (one: { triggered_by: string | null; api_key_name: string | null }): string =>
  one.api_key_name === null ? (one.triggered_by ?? '–') : `key ${one.api_key_name}`
