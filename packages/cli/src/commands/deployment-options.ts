import type { Schema, SlipwayClient } from '@slipway/client'
import { type Command, Option } from 'commander'
import { findSource, idOf, type SourceKind } from './records.ts'
import { assignment, duration, gather, given, integer, tag, targetMode, variables } from './values.ts'

/** The options that say what a deployment is to be, shared by deploy, preview and redeploy. */

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
  expectPlan?: string
  strict?: boolean
}

export interface Selection extends Overrides {
  kind?: SourceKind
  sourceVersion?: string
  allTags?: boolean
  deploymentTimeout?: number
  tenant?: string
}

/** For what creates something, not for what only looks. */
export function addExpectation(command: Command): Command {
  return command
    .option('--expect-plan <hash>', 'refuse when the plan is another than the one that was previewed')
    .option('--idempotency-key <key>', 'makes a repeated call return the first answer and create nothing')
}

/** What a deployment may be given anew when it is run again. */
export function addOverrides(command: Command): Command {
  return command
    .option('-t, --target <name>', 'a target by name or id (repeatable)', gather(String))
    .option('--tag <key=value>', 'targets with this tag (repeatable)', gather(tag))
    .option('--mode <mode>', 'sequential, parallel, or rolling:N for batches of N', targetMode)
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
    .option('--priority <number>', 'place in the queue: -100 to 100, higher is more urgent', integer(-100, 100))
    .option('--command-timeout <duration>', 'how long each command may take, for example 10m', seconds(1, 86_400))
    .option('--max-retries <number>', 'how often a failed command is tried again: 0 to 10', integer(0, 10))
    .option('--var <name=text>', 'a variable; NAME:=JSON for numbers and booleans (repeatable)', gather(assignment))
    .option('--var-file <file>', 'variables from YAML, JSON or NAME=TEXT lines (repeatable)', gather(String))
    .option('--prompted <name=text>', 'the value of a prompted variable (repeatable)', gather(assignment))
    .option('-e, --environment <name>', 'the environment, by name or id')
    .option('--bypass-cache', 'fetch files anew from the content store')
    .option('--override-freeze <reason>', 'deploy in spite of a freeze, as an administrator')
    .option('--strict', 'refuse where the request would be warned of: templates, variables, offline targets')
}

export function addSelection(command: Command): Command {
  command
    .argument('<source>', 'what is deployed: a solution, sequence or action, by name or id')
    .addOption(new Option('--kind <kind>', 'where names are ambiguous').choices(['solution', 'sequence', 'action']))
    .option('--source-version <range>', 'its version, as npm writes ranges, for example ^1.2.0; else the latest')
  return addOverrides(command)
    .option('--all-tags', 'targets must have all of the tags, not any of them')
    .option('--deployment-timeout <duration>', 'how long the whole deployment may take', seconds(0, 31_536_000))
    .option('--tenant <name>', 'the tenant, by name or id; needs --environment')
}

/** A duration that the API takes in whole seconds. */
function seconds(from: number, to: number) {
  const inRange = integer(from, to)
  return (text: string) => inRange(String(Math.round(duration(text) / 1_000)))
}

type Body = Schema<'CreateDeployment'>
type Redeploy = Schema<'RedeployDeployment'>

export async function overridesBody(client: SlipwayClient, options: Overrides): Promise<Redeploy> {
  const { target, environment } = options
  const idOfTarget = (name: string) => idOf(client, 'target', name)
  return given<Redeploy>({
    target_ids: target && (await Promise.all(target.map(idOfTarget))),
    target_tags: options.tag,
    target_mode: options.mode,
    failure_strategy: options.failureStrategy,
    rollback_strategy: options.rollbackStrategy,
    priority: options.priority,
    timeout_seconds: options.commandTimeout,
    max_retries: options.maxRetries,
    variables: variables(options.varFile, options.var),
    prompted_values: variables([], options.prompted),
    environment_id: environment === undefined ? undefined : await idOf(client, 'environment', environment),
    bypass_cache: options.bypassCache,
    override_freeze: options.overrideFreeze === undefined ? undefined : true,
    override_reason: options.overrideFreeze,
    expected_plan_hash: options.expectPlan,
    strict: options.strict,
  })
}

export async function selectionBody(client: SlipwayClient, source: string, options: Selection): Promise<Body> {
  const { kind, id } = await findSource(client, source, options.kind)
  return {
    ...(await overridesBody(client, options)),
    ...given<Body>({
      [`${kind}_id`]: id,
      version_requirement: options.sourceVersion,
      target_tags_match_all: options.allTags,
      deployment_timeout_seconds: options.deploymentTimeout,
      tenant_id: options.tenant === undefined ? undefined : await idOf(client, 'tenant', options.tenant),
    } as Body),
  }
}
