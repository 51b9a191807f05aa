import type { Schema } from '@slipway/client'
import { type Command, Option } from 'commander'
import { EXIT_CODES, RefusedError } from '../exit-code.ts'
import { formatPlan } from '../terminal/plan.ts'
import { requireConsent } from '../terminal/prompt.ts'
import { type Context, provideContext } from './context.ts'
import { printPlan, startCreate } from './deploy.ts'
import { addCreateOptions, addOverrides, buildOverrides, type Overrides } from './deployment-options.ts'
import { findId, findSource, SOURCES, type SourceKind } from './records.ts'
import { addWaitOptions, type WaitOptions } from './wait.ts'

interface PromoteOptions extends Overrides, WaitOptions {
  from: string
  to: string
  kind?: SourceKind
  dryRun?: boolean
  yes?: boolean
  idempotencyKey?: string
}

export function addPromote(program: Command): void {
  addWaitOptions(addCreateOptions(addOverrides(program.command('promote'), { environment: false })))
    .argument('<source>', 'the solution, sequence or action, by name or id')
    .description('deploy what runs in one environment to the targets of another one; shows the plan first')
    .requiredOption('--from <name>', 'the environment that has the version, by name or id')
    .requiredOption('--to <name>', 'the environment that gets it, by name or id')
    .addOption(new Option('--kind <kind>', 'for ambiguous names').choices(SOURCES))
    .option('--dry-run', 'show the plan, and create nothing')
    .option('-y, --yes', 'do not ask; needed without a terminal')
    .action(provideContext(promote))
}

/** Uses `versions_of`, so that the second environment gets the very versions of the first. */
async function promote(context: Context, name: string, options: PromoteOptions): Promise<number> {
  const { io, client, output, screen } = context
  const [from, to, source] = await Promise.all([
    findId(client, 'environment', options.from),
    findId(client, 'environment', options.to),
    findSource(client, name, options.kind),
  ])
  const promotion = await client.call('getPromotion', {
    query: { source_type: source.kind, source_id: source.id, from_environment_id: from, to_environment_id: to },
  })
  if (promotion.deployment_id === null) throw new RefusedError(promotion.blockers.join('\n'))
  const overrides = await buildOverrides(client, options)
  const isChosen = overrides.target_ids !== undefined || overrides.target_tags !== undefined
  if (!isChosen && promotion.target_ids.length === 0) {
    throw new RefusedError(`${name} is on no target of ${options.to} yet: choose the targets with --target or --tag`)
  }
  const body: Schema<'CreateDeployment'> = {
    ...overrides,
    ...(isChosen ? {} : { target_ids: promotion.target_ids }),
    [`${source.kind}_id`]: source.id,
    versions_of: promotion.deployment_id,
    environment_id: to,
  }
  const plan = await client.call('previewDeployment', { body })
  if (options.dryRun) {
    printPlan(output, plan)
    return EXIT_CODES.success
  }
  for (const line of formatPlan(plan, output)) screen.writeLine(line)
  screen.end()
  await requireConsent(io, `deploy ${plan.source_name} ${plan.source_version} to ${options.to}`, {
    yes: options.yes === true,
  })
  return await startCreate(context, { ...body, expected_plan_hash: plan.plan_hash }, options)
}
