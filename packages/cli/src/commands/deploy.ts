import type { Schema } from '@slipway/client'
import type { Command } from 'commander'
import { EXIT } from '../exit-code.ts'
import type { Output } from '../terminal/output.ts'
import { planLines } from '../terminal/plan.ts'
import { action, type Context } from './context.ts'
import {
  addExpectation,
  addOverrides,
  addSelection,
  type Overrides,
  overridesBody,
  type Selection,
  selectionBody,
} from './deployment-options.ts'
import { addWaiting, type Started, type WaitOptions, waitFor } from './waiting.ts'

interface DeployOptions extends Selection, WaitOptions {
  dryRun?: boolean
  idempotencyKey?: string
}

export function addDeploy(program: Command): void {
  addWaiting(addExpectation(addSelection(program.command('deploy'))))
    .description('deploy a source to targets')
    .option('--dry-run', 'show the plan, and create nothing')
    .action(action(deploy))
  addSelection(program.command('preview'))
    .description('show the plan that a deploy would run, and its warnings; creates nothing')
    .action(action(preview))
  addWaiting(addExpectation(addOverrides(program.command('redeploy'))))
    .argument('<deployment>', 'id of the deployment')
    .description('run a deployment again, in the version that it had')
    .option('--dry-run', 'show the plan, and create nothing')
    .option(
      '--only-failed',
      'only on the targets whose part is not complete: failed, skipped, cancelled or rolled back',
    )
    .action(action(redeploy))
}

async function preview({ client, output }: Context, source: string, options: Selection): Promise<void> {
  await show(output, await client.call('previewDeployment', { body: await selectionBody(client, source, options) }))
}

const show = (output: Output, plan: Schema<'Preview'>) => output.record(plan, () => planLines(plan, output))

async function deploy(context: Context, source: string, options: DeployOptions): Promise<number> {
  if (options.dryRun) {
    await preview(context, source, options)
    return EXIT.success
  }
  const body = await selectionBody(context.client, source, options)
  return await goOn(context, options, async () => {
    const request = { body, ...keyOf(options) }
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
  const overrides = await overridesBody(context.client, options)
  const body = { ...overrides, ...(options.onlyFailed ? { only_failed_targets: true } : {}) }
  if (options.dryRun) {
    const plan = await context.client.call('redeployDeployment', { params: { id }, body: { ...body, dry_run: true } })
    await show(context.output, plan as Schema<'Preview'>)
    return EXIT.success
  }
  return await goOn(context, options, async () => {
    const request = { params: { id }, body, ...keyOf(options) }
    const answer = (await context.client.call('redeployDeployment', request)) as
      | Schema<'RedeployStarted'>
      | Schema<'CreateQueued'>
    const started = 'pending' in answer ? answer : { deployment_id: answer.id }
    return { started, answer, warnings: answer.warnings }
  })
}

const keyOf = ({ idempotencyKey }: { idempotencyKey?: string }) =>
  idempotencyKey === undefined ? {} : { idempotencyKey }

/** Sets it going, says so, and waits for its end where that is wanted. */
async function goOn(
  context: Context,
  options: WaitOptions,
  start: () => Promise<{ started: Started; answer: unknown; warnings: readonly string[] }>,
): Promise<number> {
  const { output, screen } = context
  if (options.wait || options.follow) {
    const announced = async () => {
      const { started, warnings } = await start()
      output.warn(warnings)
      screen.line(said(started))
      return started
    }
    return await waitFor(context, announced, options)
  }
  const { started, answer, warnings } = await start()
  output.warn(warnings)
  await output.record(answer, () => [said(started)])
  return EXIT.success
}

const said = (started: Started) =>
  'deployment_id' in started
    ? `deployment ${started.deployment_id}`
    : `queued as ${started.pending_request_id}: ${started.message}`
