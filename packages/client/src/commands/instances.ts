import type { Command } from 'commander'
import { Refused } from '../exit-code.ts'
import { harmless } from '../terminal/colour.ts'
import { timeText } from '../terminal/table.ts'
import { action, type Context } from './context.ts'
import { take } from './lists.ts'

export function addInstances(program: Command): void {
  const instances = program.command('instances').description('what runs deployments')
  instances.command('list').description('list orchestration instances').action(action(list))
  for (const [name, draining, description] of [
    ['drain', true, 'let an instance end what it runs, and give it nothing new'],
    ['resume', false, 'give an instance deployments again'],
  ] as const) {
    instances
      .command(name)
      .argument('<instance>', 'name or id of the instance')
      .description(description)
      .action(
        action(async (context, meant: string) => {
          const { id } = await find(context, meant)
          const instance = await context.client.call('updateInstance', { params: { id }, body: { draining } })
          await context.output.record(instance, () => [
            `instance ${harmless(instance.name)} is ${instance.status} and runs ${instance.active} deployments`,
          ])
        }),
      )
  }
}

const all = ({ client }: Context) => take(client.each('listInstances'), Number.POSITIVE_INFINITY)

async function list(context: Context): Promise<void> {
  await context.output.list(
    await all(context),
    [
      ['ID', ({ id }) => id],
      ['NAME', ({ name }) => name],
      ['STATUS', ({ status }) => status],
      ['RUNS', ({ active, capacity }) => `${active} of ${capacity}`],
      ['VERSION', ({ version }) => version],
      ['LAST HEARTBEAT', ({ last_heartbeat_at }) => timeText(last_heartbeat_at)],
    ],
    'no instances',
  )
}

async function find(context: Context, meant: string) {
  const instances = await all(context)
  const found = instances.filter(({ id, name }) => id === meant || name === meant)
  const [instance, another] = found
  if (instance === undefined) throw new Refused(`there is no instance "${meant}"`)
  if (another !== undefined) throw new Refused(`several instances are called "${meant}": name one by its id`)
  return instance
}
