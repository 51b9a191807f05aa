import type { Answer, Schema } from '@slipway/client'
import { type Command, Option } from 'commander'
import { EXIT_CODES, RefusedError } from '../exit-code.ts'
import { formatNames } from '../terminal/name-list.ts'
import { formatPlan } from '../terminal/plan.ts'
import { requireConsent } from '../terminal/prompt.ts'
import { type Context, provideContext } from './context.ts'
import { printPlan, startRedeploy } from './deploy.ts'
import { nameFields } from './field-names.ts'
import { findId, findSourceFilter, SOURCES, type SourceKind } from './records.ts'
import { withDeployment } from './references.ts'
import { collect, omitUndefined, parseOnce, parseTag } from './values.ts'
import { addWaitOptions, type WaitOptions } from './wait.ts'

type Rollback = Answer<'getRollback'>

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
  const rollback = addWaitOptions(program.command('rollback'))
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
  nameFields(rollback, { override_reason: '--override-freeze REASON', target_ids: '--target' })
}

async function rollBack(context: Context, source: string, options: RollbackOptions): Promise<number> {
  const { io, client, output, screen } = context
  const { id, target_ids } = chooseGroup(source, await readRollback(context, source, options))
  const body = omitUndefined<Schema<'RedeployDeployment'>>({
    target_ids,
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

/** Reads what the targets had before. */
async function readRollback(context: Context, source: string, options: RollbackOptions): Promise<Rollback> {
  const { client } = context
  const { kind, target, tag, environment, tenant } = options
  const filter = omitUndefined({
    environment_id: environment === undefined ? undefined : await findId(client, 'environment', environment),
    tenant_id: tenant === undefined ? undefined : await findId(client, 'tenant', tenant),
    tag: tag && `${tag.key}=${tag.value}`,
  })
  const query = { ...(await findSourceOrDeployment(context, source, kind)), ...filter }
  const rollback = await client.call('getRollback', { query })
  if (target === undefined) return rollback
  const chosen = new Set(await Promise.all(target.map((name) => findId(client, 'target', name))))
  return {
    groups: rollback.groups
      .map((group) => ({ ...group, targets: group.targets.filter(({ id }) => chosen.has(id)) }))
      .filter(({ targets }) => targets.length > 0),
    running: rollback.running.filter(({ target_id }) => chosen.has(target_id)),
  }
}

async function findSourceOrDeployment(context: Context, source: string, kind: SourceKind | undefined) {
  const { client } = context
  if (source !== '@last') {
    try {
      return await findSourceFilter(client, source, kind)
    } catch (error) {
      if (!(error instanceof RefusedError) || !/^[0-9a-f-]{8,36}$/i.test(source)) throw error
    }
  }
  return await withDeployment(context, source, async (id) => {
    const deployment = await client.call('getDeployment', { params: { id } })
    const sourceId = deployment.solution_id ?? deployment.sequence_id ?? deployment.action_id ?? ''
    return { [`${deployment.source_type}_id`]: sourceId, deployment_id: deployment.id }
  })
}

function chooseGroup(source: string, { groups, running }: Rollback): { id: string; target_ids: string[] } {
  const [first, another] = groups
  const [attempt] = running
  if (first === undefined) throw new RefusedError(`${source} is on none of the targets: there is nothing to roll back`)
  if (attempt !== undefined) {
    throw new RefusedError(
      `deployment ${attempt.deployment_id} runs on ${attempt.target_name}: wait for it, or cancel it first`,
    )
  }
  if (another !== undefined) {
    const lines = groups.map(
      ({ deployment_id: id, targets }) => `\n  ${id ? `deployment ${id}` : 'nothing'} on ${namesOf(targets)}`,
    )
    throw new RefusedError(
      `the targets had different releases before: choose some with --target or --tag${lines.join('')}`,
    )
  }
  if (first.deployment_id === null) {
    throw new RefusedError(
      `no release before the present one differs from it on ${namesOf(first.targets)}: deploy a version, or redeploy a ` +
        'deployment of `slipway on TARGET --history`',
    )
  }
  return { id: first.deployment_id, target_ids: first.targets.map(({ id }) => id) }
}

const namesOf = (targets: readonly { name: string }[]) => formatNames(targets.map(({ name }) => name))
