import { setTimeout as sleep } from 'node:timers/promises'
import type { DeploymentDetail, Preview, Static } from '@slipway/contracts'
import type { Command } from 'commander'
import type { SlipwayClient } from '../client.ts'
import { type Applied, applyRelease } from '../release/apply.ts'
import { loadRelease, type Release } from '../release/load.ts'
import { deploymentValues, fill, type Values } from '../release/values.ts'
import { resultsOf } from '../terminal/results.ts'
import { Screen, table } from '../terminal/screen.ts'
import { watchDeployment } from '../terminal/watch.ts'
import { connect, type GlobalOptions } from './connect.ts'

type Detail = Static<typeof DeploymentDetail>
type Body = Parameters<SlipwayClient['deployments']['create']>[0]

const QUEUE_POLL_MS = 1_000

export function addFirstDeployment(program: Command): void {
  program
    .command('first-deployment')
    .argument('<directory>', 'a release directory, for example examples/storefront')
    .option(
      '--var <NAME=VALUE>',
      'a variable of this deployment (repeatable)',
      (one, all: string[]) => [...all, one],
      [],
    )
    .description('bring the catalog to what the directory says, deploy it, and show the log until it has ended')
    .action(async (directory: string, _: unknown, command: Command) => {
      const { var: overrides, ...options } = command.optsWithGlobals<GlobalOptions & { var: string[] }>()
      process.exitCode = await firstDeployment(directory, overrides, options)
    })
}

/** Returns the exit code: 0 when the deployment succeeded, 1 when it ended otherwise. */
async function firstDeployment(directory: string, overrides: string[], options: GlobalOptions): Promise<number> {
  const screen = new Screen()
  const release = loadRelease(directory)
  const client = await connect(options)
  const applied = await applyRelease(client, release, (line) => screen.line(line))
  const values = await deploymentValues(release, overrides)
  const body = bodyOf(release, applied, values)

  sayPlan(await client.deployments.preview(body), screen)
  const id = await start(client, body, screen)
  const ended = await watchDeployment(client, id, screen)
  sayResult(ended, release, screen)
  return ended.state === 'success' ? 0 : 1
}

function bodyOf({ deployment }: Release, { solutionId, environmentId, targetIds }: Applied, variables: Values): Body {
  const { paths: _, prepare: __, result_url: ___, ...given } = deployment.value
  return {
    ...given,
    solution_id: solutionId,
    ...(environmentId === null ? {} : { environment_id: environmentId }),
    // Without tags, the targets of the directory are meant.
    ...(given.target_tags === undefined ? { target_ids: targetIds } : {}),
    variables,
  }
}

function sayPlan({ plan, warnings, source_name, source_version }: Static<typeof Preview>, screen: Screen): void {
  screen.line(`${source_name} ${source_version}: ${plan.steps.length} steps on ${plan.target_count} targets`)
  for (const warning of warnings) screen.line(screen.paint(`warning: ${warning}`, 'yellow'))
}

/** Creates the deployment and, where it is queued, waits until it starts; resolves to its id. */
async function start(client: SlipwayClient, body: Body, screen: Screen): Promise<string> {
  const created = await client.deployments.create(body)
  if (!created.pending) {
    screen.line(`deployment ${created.deployment_id}`)
    return created.deployment_id
  }
  const { pending_request_id: id } = created
  screen.line(`queued as ${id}: ${created.message}`)
  for (;;) {
    await sleep(QUEUE_POLL_MS)
    const waiting = (await client.deployments.listPending()).find((request) => request.id === id)
    if (waiting) {
      screen.status(`waiting for a free instance${waiting.position ? `, place ${waiting.position} in the queue` : ''}`)
      continue
    }
    screen.endStatus()
    const started = (await client.deployments.listPending({ status: 'dispatched' })).find((one) => one.id === id)
    if (started?.deployment_id) {
      screen.line(`deployment ${started.deployment_id}`)
      return started.deployment_id
    }
    const failed = (await client.deployments.listPending({ status: 'failed' })).find((one) => one.id === id)
    throw new Error(failed?.error_message ?? 'the request was taken out of the queue')
  }
}

function sayResult(deployment: Detail, { targets, deployment: file }: Release, screen: Screen): void {
  const { result_url } = file.value
  const placeOf = (name: string) => {
    const target = targets.value.find((one) => one.name === name)
    return result_url && target ? fill(result_url, { ...target.variables }) : ''
  }
  const results = resultsOf(deployment)
  const rows = results.map(({ target, result, steps, duration }) => [target, result, steps, duration, placeOf(target)])
  screen.line('')
  for (const line of table(['TARGET', 'RESULT', 'STEPS', 'TIME', ''], rows)) screen.line(line.trimEnd())
  for (const { target, reason } of results) {
    if (reason !== null) screen.line(screen.paint(`${target}: ${reason}`, 'red'))
  }
  screen.line('')
  const seconds = deployment.duration_ms === null ? '' : ` in ${(deployment.duration_ms / 1000).toFixed(1)} s`
  const success = deployment.state === 'success'
  screen.line(screen.paint(`deployment ended: ${deployment.state}${seconds}`, success ? 'green' : 'red'))
  if (deployment.error_message !== null) screen.line(deployment.error_message)
}
