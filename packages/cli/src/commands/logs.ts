import { stripVTControlCharacters } from 'node:util'
import { isFinalState, type Schema } from '@slipway/client'
import { LOG_LEVELS, LOG_STREAMS, type StreamLog } from '@slipway/contracts'
import { type Command, Option } from 'commander'
import { DeploymentView } from '../terminal/watch.ts'
import { type Context, provideContext } from './context.ts'
import { findId } from './records.ts'
import { collect, omitUndefined, parseIntegerBetween } from './values.ts'
import { runUntilInterrupted } from './wait.ts'

export function addLogs(program: Command): void {
  program
    .command('logs')
    .argument('<deployment>', 'id of the deployment')
    .description('show the log of a deployment; with json one line per entry, with yaml one document')
    .option('-f, --follow', 'follow the log until the deployment has ended')
    .option('--from <number>', 'number of the first line, from 0', parseIntegerBetween(0, 999_999_999), 0)
    .option('--search <text>', 'only the lines with this text, in upper or lower case')
    .option('-t, --target <name>', 'only the lines of this target (repeatable)', collect(String))
    .option('--action <name>', 'only the lines of the steps with this action')
    .option('--step <id>', 'only the lines of this step')
    .addOption(new Option('--level <level>', 'only the lines of this level').choices(LOG_LEVELS))
    .addOption(
      new Option('--stream <stream>', 'only the lines of this origin; system: the sentences of Slipway')
        .choices(LOG_STREAMS)
        .conflicts('follow'),
    )
    .action(provideContext(showLogs))
}

interface LogOptions {
  follow?: boolean
  from: number
  search?: string
  target?: string[]
  action?: string
  step?: string
  level?: (typeof LOG_LEVELS)[number]
  stream?: (typeof LOG_STREAMS)[number]
}

async function showLogs(context: Context, id: string, options: LogOptions): Promise<void> {
  const { client, output, screen } = context
  const { follow, from, search, level, stream, step: step_id } = options
  const targets = await Promise.all((options.target ?? []).map((name) => findId(client, 'target', name)))
  const action_id = options.action === undefined ? undefined : await findId(client, 'action', options.action)
  const deployment = await client.call('getDeployment', { params: { id } })
  const isWanted = createLineFilter(deployment, { targets, action_id, step_id, level, search })
  const view = new DeploymentView(deployment, screen, { log: true })
  const show = (log: StreamLog) => {
    if (!isWanted(log)) return
    if (output.isForPeople) view.show({ event: 'log', data: { type: 'log', log } })
    else output.printItem(log)
  }
  await runUntilInterrupted(undefined, async (signal) => {
    try {
      if (follow && !isFinalState(deployment.state)) {
        for await (const message of client.followLogs(id, { from, signal })) {
          if (message.event === 'log') show(message.data.log)
          else if (output.isForPeople) view.show(message)
        }
        return
      }
      // The server filters by one target.
      const target_id = targets.length === 1 ? targets[0] : undefined
      const filter = omitUndefined({ target_id, action_id, step_id, level, stream, search })
      for await (const entry of client.logLines(id, { ...filter, from, signal })) {
        const { timestamp, level, step_id, target_id, target_name, message } = entry
        const metadata = entry.metadata as { seq: number } | null
        show({ timestamp, level, step_id, target_id, target_name, message, metadata })
      }
    } finally {
      screen.end()
    }
  })
}

interface LineFilter {
  targets: readonly string[]
  action_id: string | undefined
  step_id: string | undefined
  level: string | undefined
  search: string | undefined
}

/** The rule of the server for what it cannot filter: live lines, and lines of several targets. */
function createLineFilter(
  { plan }: Schema<'DeploymentDetail'>,
  { targets, action_id, step_id, level, search }: LineFilter,
): (line: StreamLog) => boolean {
  const withAction = (plan?.steps ?? []).filter((step) => step.action_id === action_id).map(({ id }) => id)
  const steps = action_id === undefined ? null : new Set(withAction)
  const text = search?.toLowerCase()
  return (line) =>
    (targets.length === 0 || (line.target_id !== null && targets.includes(line.target_id))) &&
    (steps === null || (line.step_id !== null && steps.has(line.step_id))) &&
    (step_id === undefined || line.step_id === step_id.toLowerCase()) &&
    (level === undefined || line.level === level) &&
    (text === undefined || stripVTControlCharacters(line.message).toLowerCase().includes(text))
}
