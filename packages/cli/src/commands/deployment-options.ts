import type { Schema, SlipwayClient } from '@slipway/client'
import { type Command, Option } from 'commander'
import { RefusedError, UsageError } from '../exit-code.ts'
import { formatCount } from '../terminal/table.ts'
import type { Context } from './context.ts'
import { nameFields } from './field-names.ts'
import { take } from './lists.ts'
import { addNeeds } from './needs.ts'
import { findId, findSource, SOURCES, type SourceKind } from './records.ts'
import { DEPLOYMENT_ARGUMENT, withDeployment } from './references.ts'
import { parseComingTime } from './times.ts'
import {
  collect,
  omitUndefined,
  parseAssignment,
  parseDuration,
  parseIntegerBetween,
  parseTag,
  parseTargetMode,
  readVariables,
} from './values.ts'

/** The options of a deployment that deploy, preview and redeploy share. */

export interface Overrides {
  target?: string[]
  tag?: { key: string; value: string }[]
  mode?: Schema<'CreateDeployment'>['target_mode']
  failureStrategy?: Schema<'CreateDeployment'>['failure_strategy']
  rollbackStrategy?: Schema<'CreateDeployment'>['rollback_strategy']
  priority?: number
  commandTimeout?: number
  maxRetries?: number
  var?: [string, unknown][]
  varFile?: string[]
  prompted?: [string, unknown][]
  environment?: string
  bypassCache?: boolean
  overrideFreeze?: string
  overrideRules?: boolean
  reason?: string
  at?: string
  expires?: string
  expectPlan?: string
  strict?: boolean
  onlyChanged?: boolean
}

export interface Selection extends Overrides {
  kind?: SourceKind
  sourceVersion?: string
  versionsOf?: string
  allTags?: boolean
  allTargets?: boolean
  deploymentTimeout?: number
  tenant?: string
}

/** Adds the options of commands that create a deployment. */
export function addCreateOptions(command: Command): Command {
  return command
    .option('--expect-plan <hash>', 'refuse if the plan differs from the preview with this hash')
    .option('--idempotency-key <key>', 'a repeated call with this key returns the first answer and creates nothing')
}

/** Adds the options that a redeploy can change. */
export function addOverrides(command: Command, { environment = true } = {}): Command {
  if (environment) command.option('-e, --environment <name>', 'the environment, by name or id')
  nameFields(command, {
    target_ids: '--target',
    target_tags: '--tag',
    target_mode: '--mode',
    timeout_seconds: '--command-timeout',
    variables: '--var',
    prompted_values: '--prompted',
    override_reason: '--reason',
    start_at: '--at',
    expires_at: '--expires',
    expected_plan_hash: '--expect-plan',
    solution_id: '<source>',
    sequence_id: '<source>',
    action_id: '<source>',
    version_requirement: '--source-version',
    target_tags_match_all: '--all-tags',
    deployment_timeout_seconds: '--deployment-timeout',
  })
  addNeeds(command, ['--override-rules'], ['--reason', '--override-freeze'])
  addNeeds(command, ['--reason'], ['--override-rules', '--override-freeze'])
  return command
    .option('-t, --target <name>', 'a target by name or id (repeatable)', collect(String))
    .option('--tag <key=value>', 'targets with this tag (repeatable)', collect(parseTag))
    .option('--mode <mode>', 'sequential, parallel, or rolling:N for batches of N', parseTargetMode)
    .addOption(
      new Option('--failure-strategy <strategy>', 'what a failure stops').choices([
        'stop_on_first_failure',
        'continue_on_failure',
        'ignore_failures',
      ]),
    )
    .addOption(
      new Option('--rollback-strategy <strategy>', 'what is rolled back after a failure').choices([
        'none',
        'failed_target_only',
        'all_executed',
      ]),
    )
    .option(
      '--priority <number>',
      'priority in the queue: -100 to 100, higher is more urgent',
      parseIntegerBetween(-100, 100),
    )
    .option(
      '--command-timeout <duration>',
      'how long each command may take, for example 10m',
      parseSecondsBetween(1, 86_400),
    )
    .option('--max-retries <number>', 'how often a failed command is retried: 0 to 10', parseIntegerBetween(0, 10))
    .option(
      '--var <name=text>',
      'a variable; NAME:=JSON for numbers and booleans (repeatable)',
      collect(parseAssignment),
    )
    .option('--var-file <file>', 'variables from YAML, JSON or NAME=TEXT lines (repeatable)', collect(String))
    .option('--prompted <name=text>', 'the value of a prompted variable (repeatable)', collect(parseAssignment))
    .option('--bypass-cache', 'download all files again from the content store')
    .option('--override-freeze <reason>', 'deploy in spite of a freeze, as an administrator')
    .option(
      '--override-rules',
      'deploy in spite of approvals, windows and promotion, as an administrator; needs --reason',
    )
    .option('--reason <text>', 'why freezes or rules are overridden')
    .option('--at <time>', 'start no earlier: +2h, 14:30, "tomorrow 02:00", "2026-01-31 09:00"', parseComingTime)
    .option('--expires <time>', 'cancel it if it has not started by then', parseComingTime)
    .option('--only-changed', 'leave out targets that have the same versions with the same values already')
    .option('--strict', 'refuse instead of warning about templates, variables and offline targets')
}

export function addSelection(command: Command): Command {
  command
    .argument('<source>', 'the solution, sequence or action, by name or id')
    .addOption(new Option('--kind <kind>', 'for ambiguous names').choices(SOURCES))
    .option('--source-version <range>', 'npm version range, for example ^1.2.0; default: the latest')
    .addOption(
      new Option(
        '--versions-of <deployment>',
        `use the versions of a deployment of the source, also of its sequences and actions: ${DEPLOYMENT_ARGUMENT}`,
      ).conflicts('sourceVersion'),
    )
  addNeeds(command, ['--all-tags'], ['--tag'])
  addNeeds(command, ['--tenant'], ['--environment'])
  addNeeds(command, ['--all-targets'], ['--environment'])
  return addOverrides(command)
    .addOption(
      new Option('--all-targets', 'all enabled targets of the environment; needs --environment').conflicts([
        'target',
        'tag',
      ]),
    )
    .option('--all-tags', 'only targets with all of the tags; default: any of them')
    .option(
      '--deployment-timeout <duration>',
      'how long the whole deployment may take',
      parseSecondsBetween(0, 31_536_000),
    )
    .option('--tenant <name>', 'the tenant, by name or id; needs --environment')
}

/** Returns a parser of durations in whole seconds. */
function parseSecondsBetween(from: number, to: number) {
  const inRange = parseIntegerBetween(from, to)
  return (text: string) => inRange(String(Math.round(parseDuration(text) / 1_000)))
}

type Body = Schema<'CreateDeployment'>
type Redeploy = Schema<'RedeployDeployment'>

export async function buildOverrides(client: SlipwayClient, options: Overrides): Promise<Redeploy> {
  const { target, environment } = options
  const reason = options.reason ?? options.overrideFreeze
  const findTargetId = (name: string) => findId(client, 'target', name)
  return omitUndefined<Redeploy>({
    target_ids: target && (await Promise.all(target.map(findTargetId))),
    target_tags: options.tag,
    target_mode: options.mode,
    failure_strategy: options.failureStrategy,
    rollback_strategy: options.rollbackStrategy,
    priority: options.priority,
    timeout_seconds: options.commandTimeout,
    max_retries: options.maxRetries,
    variables: readVariables(options.varFile, options.var),
    prompted_values: readVariables([], options.prompted),
    environment_id: environment === undefined ? undefined : await findId(client, 'environment', environment),
    bypass_cache: options.bypassCache,
    override_freeze: options.overrideFreeze === undefined ? undefined : true,
    override_rules: options.overrideRules,
    override_reason: reason,
    start_at: options.at,
    expires_at: options.expires,
    expected_plan_hash: options.expectPlan,
    strict: options.strict,
    only_changed: options.onlyChanged,
  })
}

/**
 * Returns the enabled targets of an environment that a deployment for this tenant, or for that of the caller, may have.
 * @throws RefusedError if there is none
 */
async function listTargetIds({ client, output }: Context, { environment_id, tenant_id }: Body): Promise<string[]> {
  const query = omitUndefined<{ environment_id: string }>({ environment_id: environment_id ?? undefined })
  const targets = (await take(client.each('listTargets', { query }))).filter(({ enabled }) => enabled)
  const isOwned = targets.some((target) => target.tenant_id !== null)
  const tenant = tenant_id ?? (isOwned ? (await client.call('getCurrentUser')).tenant_id : null)
  const ids = targets.flatMap((target) => (target.tenant_id === null || target.tenant_id === tenant ? [target.id] : []))
  const leftOut = targets.length - ids.length
  const next = `--tenant NAME takes those of a tenant, and those of none`
  if (leftOut > 0 && ids.length === 0) {
    throw new RefusedError(
      `all ${formatCount(leftOut, 'enabled target')} of the environment belong to other tenants: ${next}`,
    )
  }
  if (leftOut > 0) output.warn([`${formatCount(leftOut, 'target')} of other tenants left out: ${next}`])
  if (ids.length > 0) return ids.sort()
  throw new RefusedError(
    'the environment has no enabled target: put one into it with `slipway targets edit NAME --environment ENVIRONMENT`',
  )
}

const findDeploymentId = (context: Context, reference: string): Promise<string> =>
  withDeployment(context, reference, async (id) => (await context.client.call('getDeployment', { params: { id } })).id)

/**
 * Returns what to deploy, on which targets.
 * @throws UsageError if no option names targets: an environment alone is never taken for all of its targets
 */
export async function buildSelection(context: Context, source: string, options: Selection): Promise<Body> {
  const { client } = context
  if (options.target === undefined && options.tag === undefined && !options.allTargets) {
    throw new UsageError('say on which targets: give --target, --tag, or --environment with --all-targets')
  }
  const { kind, id } = await findSource(client, source, options.kind)
  const overrides = await buildOverrides(client, options)
  const body = {
    ...overrides,
    ...omitUndefined<Body>({
      [`${kind}_id`]: id,
      version_requirement: options.sourceVersion,
      versions_of: options.versionsOf === undefined ? undefined : await findDeploymentId(context, options.versionsOf),
      target_tags_match_all: options.allTags,
      deployment_timeout_seconds: options.deploymentTimeout,
      tenant_id: options.tenant === undefined ? undefined : await findId(client, 'tenant', options.tenant),
    } as Body),
  }
  return options.allTargets ? { ...body, target_ids: await listTargetIds(context, body) } : body
}
