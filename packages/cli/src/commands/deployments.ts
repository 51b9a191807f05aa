import type { Schema } from '@slipway/client'
import type { Command } from 'commander'
import { EXIT_CODES } from '../exit-code.ts'
import { sanitize } from '../terminal/colour.ts'
import { formatLeftOut } from '../terminal/replacements.ts'
import { summarizeTargets } from '../terminal/results.ts'
import { formatDuration, formatFacts, formatSteps, formatTable, formatTime } from '../terminal/table.ts'
import { type Context, provideContext } from './context.ts'
import { addListOptions, formatSource, type ListOptions, listDeployments } from './deployment-list.ts'
import { addLogs } from './logs.ts'
import { addListAction } from './watching.ts'

type Result = Schema<'CommandResult'>

export function addDeployments(program: Command): void {
  const status = addListOptions(program.command('status'))
    .alias('deployments')
    .argument('[deployment]', 'id of a deployment; without it, list the newest ones')
    .description('show a deployment, target by target, or list deployments')
  addListAction(status, showStatus)
  addLogs(program)
  program
    .command('results')
    .argument('<deployment>', 'id of the deployment')
    .description('show the result of each command, and explain failures')
    .option('--failed', 'only the commands that failed')
    .action(provideContext(showResults))
  program
    .command('cancel')
    .argument('<deployment>', 'id of the deployment')
    .description('cancel a deployment and kill its commands')
    .option('--reason <text>', 'for the audit log')
    .action(provideContext(cancel))
}

async function showStatus(context: Context, id: string | undefined, options: ListOptions): Promise<void> {
  if (id === undefined) return await listDeployments(context, options)
  const { client, output } = context
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

async function showResults({ client, output }: Context, id: string, { failed }: { failed?: boolean }): Promise<void> {
  const all = await client.call('listCommandResults', { params: { id } })
  const shown = failed ? all.filter((one) => one.status === 'failed') : all
  output.printList(
    shown,
    [
      ['TARGET', ({ target_name }) => target_name],
      ['ACTION', ({ action_name }) => action_name],
      ['STATUS', ({ status: its }) => its],
      ['EXIT', ({ exit_code }) => exit_code],
      ['TOOK', ({ duration_ms }) => formatDuration(duration_ms)],
    ],
    'no command has ended yet',
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

async function cancel({ client, output }: Context, id: string, { reason }: { reason?: string }): Promise<number> {
  const body = reason === undefined ? {} : { reason }
  const deployment = await client.call('cancelDeployment', { params: { id }, body })
  output.printRecord(deployment, () => [`deployment ${deployment.id}: ${deployment.state}`])
  return EXIT_CODES.success
}
