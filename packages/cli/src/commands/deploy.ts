import type { Schema } from '@slipway/client'
import type { Command } from 'commander'
import { EXIT_CODES } from '../exit-code.ts'
import type { Output } from '../terminal/output.ts'
import { formatPlan } from '../terminal/plan.ts'
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
import { addWaitOptions, type StartResult, startAndWait, type WaitOptions } from './wait.ts'

interface DeployOptions extends Selection, WaitOptions {
  dryRun?: boolean
  idempotencyKey?: string
}

export function addDeploy(program: Command): void {
  addWaitOptions(addCreateOptions(addSelection(program.command('deploy'))))
    .description('deploy a source to targets')
    .option('--dry-run', 'show the plan, and create nothing')
    .action(provideContext(deploy))
  addSelection(program.command('preview'))
    .description('show the plan and the warnings of a deploy; creates nothing')
    .action(provideContext(preview))
  addWaitOptions(addCreateOptions(addOverrides(program.command('redeploy'))))
    .argument('<deployment>', 'id of the deployment')
    .description('run a deployment again, with the same version')
    .option('--dry-run', 'show the plan, and create nothing')
    .option(
      '--only-failed',
      'only on targets with steps that are not completed: failed, skipped, cancelled or rolled back',
    )
    .action(provideContext(redeploy))
}

async function preview({ client, output }: Context, source: string, options: Selection): Promise<void> {
  await printPlan(
    output,
    await client.call('previewDeployment', { body: await buildSelection(client, source, options) }),
  )
}

const printPlan = (output: Output, plan: Schema<'Preview'>) => output.printRecord(plan, () => formatPlan(plan, output))

async function deploy(context: Context, source: string, options: DeployOptions): Promise<number> {
  if (options.dryRun) {
    await preview(context, source, options)
    return EXIT_CODES.success
  }
  const body = await buildSelection(context.client, source, options)
  return await startDeployment(context, options, async () => {
    const request = { body, ...getIdempotencyKey(options) }
    const answer = await context.client.call('createDeployment', request)
    const started = answer as Schema<'CreateStarted'> | Schema<'CreateQueued'>
    return { started, answer, warnings: started.warnings }
  })
}

async function redeploy(
  context: Context,
  id: string,
  options: Overrides & WaitOptions & { dryRun?: boolean; onlyFailed?: boolean; idempotencyKey?: string },
): Promise<number> {
  const overrides = await buildOverrides(context.client, options)
  const body = { ...overrides, ...(options.onlyFailed ? { only_failed_targets: true } : {}) }
  if (options.dryRun) {
    const plan = await context.client.call('redeployDeployment', { params: { id }, body: { ...body, dry_run: true } })
    await printPlan(context.output, plan as Schema<'Preview'>)
    return EXIT_CODES.success
  }
  return await startDeployment(context, options, async () => {
    const request = { params: { id }, body, ...getIdempotencyKey(options) }
    const answer = (await context.client.call('redeployDeployment', request)) as
      | Schema<'RedeployStarted'>
      | Schema<'CreateQueued'>
    const started = 'pending' in answer ? answer : { deployment_id: answer.id }
    return { started, answer, warnings: answer.warnings }
  })
}

const getIdempotencyKey = ({ idempotencyKey }: { idempotencyKey?: string }) =>
  idempotencyKey === undefined ? {} : { idempotencyKey }

/** Starts a deployment and prints its id. With --wait or --follow, waits until it has ended. */
async function startDeployment(
  context: Context,
  options: WaitOptions,
  start: () => Promise<{ started: StartResult; answer: unknown; warnings: readonly string[] }>,
): Promise<number> {
  const { output, screen } = context
  if (options.wait || options.follow) {
    const startAndPrint = async () => {
      const { started, warnings } = await start()
      output.warn(warnings)
      screen.writeLine(formatStart(started))
      return started
    }
    return await startAndWait(context, startAndPrint, options)
  }
  const { started, answer, warnings } = await start()
  output.warn(warnings)
  output.printRecord(answer, () => [formatStart(started)])
  return EXIT_CODES.success
}

const formatStart = (started: StartResult) =>
  'deployment_id' in started
    ? `deployment ${started.deployment_id}`
    : `queued as ${started.pending_request_id}: ${started.message}`
