import type { Item, Schema } from '@slipway/client'
import { type Command, Option } from 'commander'
import { EXIT_CODES, RefusedError } from '../exit-code.ts'
import { formatNames } from '../terminal/name-list.ts'
import { formatPlan } from '../terminal/plan.ts'
import { requireConsent } from '../terminal/prompt.ts'
import { type Context, provideContext } from './context.ts'
import { printPlan, startRedeploy } from './deploy.ts'
import { take } from './lists.ts'
import { findId, findSourceFilter, SOURCES, type SourceKind } from './records.ts'
import { withDeployment } from './references.ts'
import { findFailedReturn, findReleaseBefore } from './release-before.ts'
import { collect, omitUndefined, parseOnce, parseTag } from './values.ts'
import { addWaitOptions, type WaitOptions } from './wait.ts'

type Installed = Item<'listReleases'>

interface RollbackOptions extends WaitOptions {
  kind?: SourceKind
  target?: string[]
  tag?: ReturnType<typeof parseTag>
  environment?: string
  tenant?: string
  dryRun?: boolean
  yes?: boolean
  overrideFreeze?: string
  expectPlan?: string
}

export function addRollback(program: Command): void {
  addWaitOptions(program.command('rollback'))
    .argument('<source>', 'the solution, sequence or action by name or id; or a deployment: its id or @last')
    .description('deploy the release before the present one on the same targets; shows the plan first')
    .addOption(new Option('--kind <kind>', 'for ambiguous names').choices(SOURCES))
    .option('-t, --target <name>', 'only on this target, by name or id (repeatable)', collect(String))
    .option('--tag <key=value>', 'only on targets with this tag', parseOnce(parseTag))
    .option('-e, --environment <name>', 'only in this environment, by name or id')
    .option('--tenant <name>', 'only of this tenant, by name or id')
    .option('--override-freeze <reason>', 'deploy in spite of a freeze, as an administrator')
    .option('--expect-plan <hash>', 'refuse if the plan differs from the one of --dry-run with this hash')
    .option('--dry-run', 'show the plan, and create nothing')
    .option('-y, --yes', 'do not ask; needed without a terminal')
    .action(provideContext(rollBack))
}

async function rollBack(context: Context, source: string, options: RollbackOptions): Promise<number> {
  const { io, client, output, screen } = context
  const present = await findPresent(context, source, options)
  const targets = await Promise.all(present.map(async (one) => ({ one, before: await findBefore(context, one) })))
  const id = chooseDeployment(targets)
  const body = omitUndefined<Schema<'RedeployDeployment'>>({
    target_ids: present.map(({ target_id }) => target_id),
    override_freeze: options.overrideFreeze === undefined ? undefined : true,
    override_reason: options.overrideFreeze,
  })
  const preview = { params: { id }, body: { ...body, dry_run: true } }
  const plan = (await client.call('redeployDeployment', preview)) as Schema<'Preview'>
  // Not left to the server: a person would say yes to another plan first.
  if (options.expectPlan !== undefined && options.expectPlan !== plan.plan_hash) {
    throw new RefusedError(
      `the plan is not the expected one: its hash is ${plan.plan_hash}, not ${options.expectPlan}; look at it with --dry-run`,
    )
  }
  if (options.dryRun) {
    printPlan(output, plan)
    return EXIT_CODES.success
  }
  for (const line of formatPlan(plan, output)) screen.writeLine(line)
  screen.end()
  await requireConsent(io, `roll back to ${plan.source_name} ${plan.source_version}`, { yes: options.yes === true })
  return await startRedeploy(context, id, { ...body, expected_plan_hash: plan.plan_hash }, options)
}

/** Returns what is on the targets now. */
async function findPresent(context: Context, source: string, options: RollbackOptions): Promise<Installed[]> {
  const { client } = context
  const { kind, target, tag, environment, tenant } = options
  const filter = omitUndefined({
    environment_id: environment === undefined ? undefined : await findId(client, 'environment', environment),
    tenant_id: tenant === undefined ? undefined : await findId(client, 'tenant', tenant),
    tag: tag && `${tag.key}=${tag.value}`,
  })
  const targetIds = target && (await Promise.all(target.map((name) => findId(client, 'target', name))))
  const { query, deploymentId } = await findSourceOrDeployment(context, source, kind)
  const all = await take(client.each('listReleases', { query: { ...query, ...filter } }))
  const found = all.filter(
    (one) =>
      (targetIds === undefined || targetIds.includes(one.target_id)) &&
      (deploymentId === undefined || [one.deployment_id, one.last_attempt?.deployment_id].includes(deploymentId)),
  )
  if (found.length === 0) throw new RefusedError(`${source} is on none of the targets: there is nothing to roll back`)
  const running = found.find(({ last_attempt: last }) => last?.state === 'running' || last?.state === 'rolling_back')
  if (running !== undefined) {
    const id = running.last_attempt?.deployment_id
    throw new RefusedError(`deployment ${id} runs on ${running.target_name}: wait for it, or cancel it first`)
  }
  return found
}

async function findSourceOrDeployment(context: Context, source: string, kind: SourceKind | undefined) {
  const { client } = context
  if (source !== '@last') {
    try {
      return { query: await findSourceFilter(client, source, kind), deploymentId: undefined }
    } catch (error) {
      if (!(error instanceof RefusedError) || !/^[0-9a-f-]{8,36}$/i.test(source)) throw error
    }
  }
  return await withDeployment(context, source, async (id) => {
    const deployment = await client.call('getDeployment', { params: { id } })
    const sourceId = deployment.solution_id ?? deployment.sequence_id ?? deployment.action_id ?? ''
    return { query: { [`${deployment.source_type}_id`]: sourceId }, deploymentId: deployment.id }
  })
}

/** Returns the deployment of the release before, or null. After a failed attempt this is the release in force. */
async function findBefore({ client }: Context, installed: Installed): Promise<string | null> {
  const { target_id: id, source_type, source_id, last_attempt: last } = installed
  if (installed.deployment_id === null) return null
  const query = { [`${source_type}_id`]: source_id }
  const history = await take(client.each('listTargetReleases', { params: { id }, query }))
  const hasFailed = last !== null && ['failed', 'cancelled', 'rollback_failed'].includes(last.state)
  return hasFailed ? (findFailedReturn(history) ?? installed.deployment_id) : findReleaseBefore(history)
}

interface TargetBefore {
  one: Installed
  before: string | null
}

function chooseDeployment(targets: readonly TargetBefore[]): string {
  const groups = new Map<string | null, string[]>()
  for (const { one, before } of targets) groups.set(before, [...(groups.get(before) ?? []), one.target_name])
  const [first, another] = groups.keys()
  if (another === undefined && first) return first
  if (another === undefined) {
    const versions = [...new Set(targets.map(({ one }) => one.version ?? 'none'))].join(', ')
    const names = formatNames(targets.map(({ one }) => one.target_name))
    throw new RefusedError(
      `there is no release before the present one (${versions}) on ${names}: deploy a version, or redeploy a deployment of ` +
        '`slipway on TARGET --history`',
    )
  }
  const lines = [...groups].map(([id, names]) => `\n  ${id ? `deployment ${id}` : 'nothing'} on ${formatNames(names)}`)
  throw new RefusedError(
    `the targets had different releases before: choose some with --target or --tag${lines.join('')}`,
  )
}
