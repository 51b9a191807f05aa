import { ConflictError, isNothingToDeploy, type Schema } from '@slipway/client'
import type { Command } from 'commander'
import { rememberLastRun } from '../configuration/last-run.ts'
import { EXIT_CODES } from '../exit-code.ts'
import type { Output } from '../terminal/output.ts'
import { formatPlan } from '../terminal/plan.ts'
import { formatLeftOut } from '../terminal/replacements.ts'
import { formatCount, formatTime } from '../terminal/table.ts'
import { type Context, provideContext } from './context.ts'
import {
  addCreateOptions,
  addOverrides,
  addSelection,
  buildOverrides,
  buildSelection,
  type Overrides,
  type Selection,
} from './deployment-options.ts'
import { DEPLOYMENT_ARGUMENT, withDeployment } from './references.ts'
import { addWaitOptions, type StartResult, startAndWait, type WaitOptions } from './wait.ts'

interface DeployOptions extends Selection, WaitOptions {
  dryRun?: boolean
  idempotencyKey?: string
}

export function addDeploy(program: Command): void {
  addWaitOptions(addCreateOptions(addSelection(program.command('deploy'))))
    .description('deploy a source to targets')
    .option('--dry-run', 'show the plan, and create nothing')
    .action(provideContext(succeedIfUnchanged(deploy)))
  addSelection(program.command('preview'))
    .description('show the plan and the warnings of a deploy; creates nothing')
    .option('--blocked-exit-code', 'exit with 7 if anything keeps it from starting now')
    .action(provideContext(succeedIfUnchanged(preview)))
  addWaitOptions(addCreateOptions(addOverrides(program.command('redeploy'))))
    .argument('<deployment>', DEPLOYMENT_ARGUMENT)
    .description('run a deployment again, with the same version')
    .option('--dry-run', 'show the plan, and create nothing')
    .option(
      '--only-failed',
      'only on targets with steps that are not completed: failed, skipped, cancelled or rolled back',
    )
    .action(provideContext(succeedIfUnchanged(redeploy)))
}

/** The server started nothing: `only_changed` leaves no target. */
class NothingToDeploy extends Error {
  readonly unchangedTargetIds: readonly string[]

  constructor({ message, unchanged_target_ids }: Schema<'NothingToDeploy'>) {
    super(message)
    this.unchangedTargetIds = unchanged_target_ids
  }
}

/** If `only_changed` leaves no target, a preview is refused. For a pipeline this is a success too: there is nothing to do. */
function succeedIfUnchanged<A extends unknown[]>(body: (context: Context, ...args: A) => Promise<number>) {
  return async (context: Context, ...args: A): Promise<number> => {
    try {
      return await body(context, ...args)
    } catch (error) {
      const unchanged = getUnchanged(error)
      if (!Array.isArray(unchanged)) throw error
      context.output.printRecord({ unchanged_target_ids: unchanged }, () => [
        `nothing to deploy: the same versions and values are in force on ${formatCount(unchanged.length, 'target')}`,
      ])
      return EXIT_CODES.success
    }
  }
}

function getUnchanged(error: unknown): unknown {
  if (error instanceof NothingToDeploy) return error.unchangedTargetIds
  return error instanceof ConflictError ? error.details['unchanged_target_ids'] : undefined
}

async function preview(
  context: Context,
  source: string,
  options: Selection & { blockedExitCode?: boolean },
): Promise<number> {
  const { client, output } = context
  const body = await buildSelection(context, source, options)
  const plan = await client.call('previewDeployment', { body })
  printPlan(output, plan)
  return options.blockedExitCode && plan.blockers.length > 0 ? EXIT_CODES.blocked : EXIT_CODES.success
}

export const printPlan = (output: Output, plan: Schema<'Preview'>) =>
  output.printRecord(plan, () => formatPlan(plan, output))

async function deploy(context: Context, source: string, options: DeployOptions): Promise<number> {
  if (options.dryRun) return await preview(context, source, options)
  return await startCreate(context, await buildSelection(context, source, options), options)
}

interface StartOptions extends WaitOptions {
  idempotencyKey?: string
  at?: string
}

export async function startCreate(
  context: Context,
  body: Schema<'CreateDeployment'>,
  options: StartOptions,
): Promise<number> {
  return await startDeployment(context, options, async () => {
    const request = { body, ...getIdempotencyKey(options) }
    const answer = await context.client.call('createDeployment', request)
    if (isNothingToDeploy(answer)) throw new NothingToDeploy(answer)
    const started = answer as Schema<'CreateStarted'> | Schema<'CreateQueued'>
    return {
      started,
      answer,
      warnings: started.warnings,
      config: started.pending ? undefined : started.deployment.config,
    }
  })
}

async function redeploy(
  context: Context,
  reference: string,
  options: Overrides & WaitOptions & { dryRun?: boolean; onlyFailed?: boolean; idempotencyKey?: string },
): Promise<number> {
  const overrides = await buildOverrides(context.client, options)
  const body = { ...overrides, ...(options.onlyFailed ? { only_failed_targets: true } : {}) }
  return await withDeployment(context, reference, async (id) => {
    if (!options.dryRun) return await startRedeploy(context, id, body, options)
    const plan = await context.client.call('redeployDeployment', { params: { id }, body: { ...body, dry_run: true } })
    printPlan(context.output, plan as Schema<'Preview'>)
    return EXIT_CODES.success
  })
}

export async function startRedeploy(
  context: Context,
  id: string,
  body: Schema<'RedeployDeployment'>,
  options: StartOptions,
): Promise<number> {
  return await startDeployment(context, options, async () => {
    const request = { params: { id }, body, ...getIdempotencyKey(options) }
    const given = await context.client.call('redeployDeployment', request)
    if (isNothingToDeploy(given)) throw new NothingToDeploy(given)
    const answer = given as Schema<'RedeployStarted'> | Schema<'CreateQueued'>
    const started = 'pending' in answer ? answer : { deployment_id: answer.id }
    return { started, answer, warnings: answer.warnings, config: 'pending' in answer ? undefined : answer.config }
  })
}

const getIdempotencyKey = ({ idempotencyKey }: StartOptions) => (idempotencyKey === undefined ? {} : { idempotencyKey })

interface Started {
  started: StartResult
  answer: unknown
  warnings: readonly string[]
  /** Undefined for a pending request. */
  config: Schema<'DeploymentConfig'> | undefined
}

/** Starts a deployment and prints its id. With --wait or --follow, waits until it has ended. */
async function startDeployment(
  context: Context,
  options: StartOptions,
  start: () => Promise<Started>,
): Promise<number> {
  const { output, screen } = context
  const startAndRemember = async () => {
    const answered = await start()
    rememberLastRun(context.io, context.url, getRunId(answered.started))
    return answered
  }
  if (options.wait || options.follow) {
    const startAndPrint = async () => {
      const answered = await startAndRemember()
      output.warn(answered.warnings)
      for (const line of formatStart(answered, options.at)) screen.writeLine(line)
      return answered.started
    }
    return await startAndWait(context, startAndPrint, options)
  }
  const answered = await startAndRemember()
  output.warn(answered.warnings)
  output.printRecord(answered.answer, () => formatStart(answered, options.at))
  return EXIT_CODES.success
}

const getRunId = (started: StartResult) =>
  'deployment_id' in started ? started.deployment_id : started.pending_request_id

function formatStart({ started, config }: Started, startsAt: string | undefined): string[] {
  if (!('deployment_id' in started)) {
    const { pending_request_id: id } = started
    const start = startsAt === undefined ? [] : [`starts at ${formatTime(startsAt)} or later`]
    return [`queued as ${id}`, ...start, `why it waits, and until when:  slipway pending why ${id}`]
  }
  const leftOut = formatLeftOut(config?.unchanged_target_ids)
  return [`deployment ${started.deployment_id}`, ...(leftOut === undefined ? [] : [`left out: ${leftOut}`])]
}
