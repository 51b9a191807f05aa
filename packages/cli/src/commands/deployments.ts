import type { Schema } from '@slipway/client'
import type { Command } from 'commander'
import { sanitize } from '../terminal/controls.ts'
import { formatLeftOut } from '../terminal/replacements.ts'
import { summarizeTargets } from '../terminal/results.ts'
import { formatDuration, formatFacts, formatSteps, formatTable, formatTime } from '../terminal/table.ts'
import { type Context, provideContext } from './context.ts'
import { addListOptions, formatSource, type ListOptions, listDeployments } from './deployment-list.ts'
import { addLogs } from './logs.ts'
import { addNoun, LIST } from './nouns.ts'
import { cancelPending, printPending } from './pending.ts'
import { DEPLOYMENT_ARGUMENT, withDeployment } from './references.ts'
import { addFollowOptions, type StartResult, startAndWait, type WaitOptions } from './wait.ts'
import { addListAction } from './watching.ts'

type Result = Schema<'CommandResult'>

export function addDeployments(program: Command): void {
  const status = addListOptions(program.command('status'))
    .argument('[deployment]', `${DEPLOYMENT_ARGUMENT}; without it, list the newest ones`)
    .description('show a deployment, target by target, or list deployments')
  addListAction(status, showStatus)
  addAsRecords(program)
  addLogs(program)
  program
    .command('results')
    .argument('<deployment>', DEPLOYMENT_ARGUMENT)
    .description('show the result of each command, and explain failures')
    .option('--failed', 'only the commands that failed')
    .action(provideContext(showResults))
  addFollowOptions(program.command('watch'))
    .argument('<deployment>', DEPLOYMENT_ARGUMENT)
    .description('wait until a deployment has ended; the exit code depends on its result')
    .action(provideContext(watch))
  program
    .command('cancel')
    .argument('<deployment>', DEPLOYMENT_ARGUMENT)
    .description('cancel a deployment and kill its commands, or take a request out of the queue')
    .option('--reason <text>', 'for the audit log')
    .action(provideContext(cancel))
}

/** Adds the subcommands that all kinds of records have. */
function addAsRecords(program: Command): void {
  const deployments = addNoun(program, 'deployments', 'deployments that have started', {
    create: 'use `slipway deploy SOURCE`',
    edit: 'use `slipway cancel ID`, `slipway redeploy ID` or `slipway rollback SOURCE`',
    delete: 'it stays as a record; `slipway cancel ID` ends one that runs',
  })
  const list = addListOptions(deployments.command('list', LIST)).description('list deployments, newest first')
  addListAction(list, listDeployments)
  const show = deployments
    .command('show')
    .argument('<deployment>', DEPLOYMENT_ARGUMENT)
    .description('show a deployment, target by target')
  addListAction(show, showReferenced)
}

async function showStatus(context: Context, reference: string | undefined, options: ListOptions): Promise<void> {
  if (reference === undefined) await listDeployments(context, options)
  else await showReferenced(context, reference)
}

/** Shows a deployment, or a request that waits to become one. */
const showReferenced = (context: Context, reference: string): Promise<void> =>
  withDeployment(
    context,
    reference,
    (id) => showDeployment(context, id),
    (one) => printPending(context, one),
  )

async function showDeployment({ client, output }: Context, id: string): Promise<void> {
  const deployment = await client.call('getDeployment', { params: { id } })
  output.printRecord(deployment, () => [
    ...formatFacts([
      ['deployment', deployment.id],
      ['source', sanitize(formatSource(deployment))],
      ['state', deployment.state],
      ['left out', formatLeftOut(deployment.config.unchanged_target_ids)],
      ['progress', `${formatSteps(deployment)}, ${deployment.failed_steps} failed`],
      ['tenant', deployment.tenant_name],
      ['environment', deployment.environment_name],
      ['triggered by', deployment.triggered_by],
      ['created', formatTime(deployment.created_at)],
      ['took', formatDuration(deployment.duration_ms)],
      ['run again from', deployment.source_deployment_id],
      ['approved by', deployment.approved_by.map(({ user_name }) => sanitize(user_name)).join(', ') || undefined],
      ['cancelled by', deployment.cancelled_by],
      ['reason', sanitize(deployment.cancel_reason ?? '')],
      ['error', deployment.error_message],
    ]),
    '',
    ...formatTable(
      ['TARGET', 'RESULT', 'STEPS', 'TIME', 'WHY'],
      summarizeTargets(deployment).map((one) => [
        sanitize(one.target),
        one.result,
        one.steps,
        one.duration,
        sanitize(one.reason ?? ''),
      ]),
    ),
  ])
}

async function showResults(context: Context, reference: string, { failed }: { failed?: boolean }): Promise<void> {
  const { client, output } = context
  const all = await withDeployment(context, reference, (id) => client.call('listCommandResults', { params: { id } }))
  const shown = failed ? all.filter((one) => one.status === 'failed') : all
  output.printList(
    shown,
    [
      ['TARGET', ({ target_name }) => target_name],
      ['ACTION', ({ action_name }) => action_name],
      ['VERSION', ({ action_version }) => action_version],
      ['STATUS', ({ status: its }) => its],
      ['EXIT', ({ exit_code }) => exit_code],
      ['TOOK', ({ duration_ms }) => formatDuration(duration_ms)],
    ],
    'no command has ended yet',
    { hasOptionalFields: true },
  )
  if (!output.isForPeople) return
  for (const result of shown) for (const line of explainFailure(result)) output.writeLine(line)
}

/** Returns lines that explain a failed command. Returns none for other commands. */
function explainFailure(result: Result): string[] {
  const { status: its, target_name, action_name, error_message, stderr_tail, analysis } = result
  if (its !== 'failed') return []
  const tail = (stderr_tail ?? '')
    .trimEnd()
    .split('\n')
    .slice(-5)
    .filter((line) => line !== '')
  return [
    '',
    `${sanitize(action_name ?? '')} on ${sanitize(target_name ?? '')}: ${sanitize(error_message ?? 'failed')}`,
    ...tail.map((line) => `  | ${sanitize(line)}`),
    ...(analysis ? [`  ${sanitize(analysis.summary)} (${Math.round(analysis.confidence * 100)} % sure)`] : []),
    ...(analysis ? [`  likely cause: ${sanitize(analysis.likely_cause)}`] : []),
    ...(analysis?.remediation ?? []).map((line) => `  - ${sanitize(line)}`),
  ]
}

async function watch(context: Context, reference: string, options: WaitOptions): Promise<number> {
  const find = () =>
    withDeployment<StartResult>(
      context,
      reference,
      async (id) => ({ deployment_id: (await context.client.call('getDeployment', { params: { id } })).id }),
      ({ id }) => ({ pending_request_id: id, message: '' }),
    )
  return await startAndWait(context, find, options)
}

async function cancel(context: Context, reference: string, { reason }: { reason?: string }): Promise<void> {
  const { client, output } = context
  const body = reason === undefined ? {} : { reason }
  const cancelDeployment = async (id: string) => {
    const deployment = await client.call('cancelDeployment', { params: { id }, body })
    output.printRecord(deployment, () => [`deployment ${deployment.id}: ${deployment.state}`])
  }
  await withDeployment(context, reference, cancelDeployment, ({ id }) => cancelPending(context, id))
}
