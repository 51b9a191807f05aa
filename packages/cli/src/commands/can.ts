import type { Input } from '@slipway/client'
import type { Command } from 'commander'
import { EXIT_CODES } from '../exit-code.ts'
import { sanitize } from '../terminal/controls.ts'
import { type Context, provideContext } from './context.ts'
import { findId } from './records.ts'

type Question = NonNullable<Input<'askRight'>['query']>

interface CanOptions {
  environment?: string
  solution?: string
}

export function addCan(program: Command): void {
  program
    .command('can')
    .argument('<permission>', 'such as deployments:create')
    .description('say whether you may do something, and why; exits with 3 if not')
    .option('-e, --environment <name>', 'in this environment, by name or id')
    .option('--solution <name>', 'for this solution, by name or id')
    .action(provideContext(ask))
}

async function ask({ client, output }: Context, permission: string, options: CanOptions): Promise<number> {
  const { environment, solution } = options
  const query: Question = {
    // The server checks the name of the permission.
    permission: permission as NonNullable<Question['permission']>,
    ...(environment === undefined ? {} : { environment_id: await findId(client, 'environment', environment) }),
    ...(solution === undefined
      ? {}
      : { source_type: 'solution', source_id: await findId(client, 'solution', solution) }),
  }
  const right = await client.call('askRight', { query })
  output.printRecord(right, () => [sanitize(`${right.allowed ? 'yes' : 'no'}: ${right.because}`)])
  return right.allowed ? EXIT_CODES.success : EXIT_CODES.refused
}
