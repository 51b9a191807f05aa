import type { Command } from 'commander'
import { harmless } from '../terminal/colour.ts'
import { timeText } from '../terminal/table.ts'
import { action, type Context } from './context.ts'
import { take } from './lists.ts'
import { idOf } from './records.ts'

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
          const id = await idOf(context.client, 'instance', meant)
          const instance = await context.client.call('updateInstance', { params: { id }, body: { draining } })
          await context.output.record(instance, () => [
            `instance ${harmless(instance.name)} is ${instance.status} and runs ${instance.active} deployments`,
          ])
        }),
      )
  }
}

async function list({ client, output }: Context): Promise<void> {
  await output.list(
    await take(client.each('listInstances'), Number.POSITIVE_INFINITY),
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
