import type { Command } from 'commander'
import { sanitize } from '../terminal/controls.ts'
import { provideContext } from './context.ts'
import { addNoun } from './nouns.ts'
import { addDeleteCommand, addListCommand, addShowCommand } from './record-commands.ts'
import { findId } from './records.ts'

/** Instances join by themselves, with a join token, so there is no `create`. */
export function addInstances(program: Command): void {
  const instances = addNoun(program, 'instances', 'orchestration instances, which run deployments', {
    create: 'an instance joins by itself, with a token of `slipway join-tokens create`',
    edit: 'use `slipway instances drain NAME` or `slipway instances resume NAME`',
  })
  addListCommand(instances, 'instance')
  addShowCommand(instances, 'instance')
  addDeleteCommand(instances, 'instance').option(
    '--force',
    'even if it is online or runs deployments; other instances get these 30 s later',
  )
  for (const [name, draining, description] of [
    ['drain', true, 'let an instance finish its runs, and give it no new ones'],
    ['resume', false, 'give an instance new runs again'],
  ] as const) {
    instances
      .command(name)
      .argument('<instance>', 'name or id of the instance')
      .description(description)
      .action(
        provideContext(async (context, nameOrId: string) => {
          const id = await findId(context.client, 'instance', nameOrId)
          const instance = await context.client.call('updateInstance', { params: { id }, body: { draining } })
          context.output.printRecord(instance, () => [
            `instance ${sanitize(instance.name)} is ${instance.status} and runs ${instance.active} deployments`,
          ])
        }),
      )
  }
}
