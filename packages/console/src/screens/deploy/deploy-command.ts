import type { Schema } from '@slipway/client'
import { shellQuoted } from '../../components/commands.ts'
import type { Variable } from './variable-values.ts'

type Request = Schema<'CreateDeployment'>

/** A longer command helps nobody. */
const MAX_NAMED_TARGETS = 20

/** The command that does the same as the request. Secrets are left out, and so are more targets than a person would copy. */
export function deployCommand(
  subcommand: 'deploy' | 'preview',
  name: string,
  request: Request,
  variables: readonly Variable[],
): string {
  const kind = request.solution_id ? 'solution' : request.sequence_id ? 'sequence' : 'action'
  const mode = request.target_mode
  return [
    `slipway ${subcommand} ${shellQuoted(name)} --kind ${kind}`,
    option('--source-version', request.version_requirement),
    option('--versions-of', request.versions_of),
    ...targetOptions(request.target_ids ?? []),
    ...(request.target_tags ?? []).map(({ key, value }) => option('--tag', `${key}=${value}`)),
    request.target_tags_match_all ? '--all-tags' : '',
    option('-e', request.environment_id),
    option('--tenant', request.tenant_id),
    mode === 'parallel' ? '--mode parallel' : '',
    typeof mode === 'object' ? `--mode rolling:${mode.rolling.batch_size}` : '',
    option('--failure-strategy', unless('stop_on_first_failure', request.failure_strategy)),
    option('--rollback-strategy', unless('none', request.rollback_strategy)),
    option('--priority', request.priority),
    option('--command-timeout', seconds(request.timeout_seconds)),
    option('--max-retries', request.max_retries),
    option('--deployment-timeout', seconds(request.deployment_timeout_seconds)),
    request.bypass_cache ? '--bypass-cache' : '',
    option('--at', request.start_at),
    option('--expires', request.expires_at),
    ...assignments('--var', request.variables, variables),
    ...assignments('--prompted', request.prompted_values, variables),
  ]
    .filter((part) => part !== '')
    .join(' ')
}

const targetOptions = (ids: readonly string[]) =>
  ids.length > MAX_NAMED_TARGETS ? ['-t TARGET…'] : ids.map((id) => option('-t', id))

const option = (name: string, value: string | number | undefined) =>
  value === undefined ? '' : `${name} ${shellQuoted(String(value))}`

const unless = (initial: string, value: string | undefined) => (value === initial ? undefined : value)

const seconds = (value: number | undefined) => (value === undefined ? undefined : `${value}s`)

function assignments(name: string, values: Record<string, unknown> | undefined, variables: readonly Variable[]) {
  const isSecret = (variableName: string) =>
    variables.some((variable) => variable.name === variableName && variable.sensitive)
  return Object.entries(values ?? {}).map(([key, value]) => {
    if (isSecret(key)) return `${name} ${key}="$${key.toUpperCase()}"`
    return option(name, typeof value === 'string' ? `${key}=${value}` : `${key}:=${JSON.stringify(value)}`)
  })
}
