import { pipeline } from 'node:stream/promises'
import { stripVTControlCharacters } from 'node:util'
import { isFinalState, type LogFilter, type Schema } from '@slipway/client'
import type { StreamLog } from '@slipway/contracts'
import { type Command, Option } from 'commander'
import { UsageError } from '../exit-code.ts'
import { DeploymentView } from '../terminal/watch.ts'
import { type Context, provideContext } from './context.ts'
import { reportOutages } from './outage.ts'
import { findId } from './records.ts'
import { DEPLOYMENT_ARGUMENT, refuseWhilePending, withDeployment } from './references.ts'
import { parsePastTime } from './times.ts'
import { collect, omitUndefined, parseIntegerBetween } from './values.ts'
import { runUntilInterrupted, waitForDispatch } from './wait.ts'

const PAGE = 1_000
// Not the lists of the contracts: their schemas would cost each command a third of its start. The types keep them complete.
const LEVELS: Record<NonNullable<LogFilter['level']>, true> = { info: true, warning: true, error: true }
const STREAMS: Record<NonNullable<LogFilter['stream']>, true> = { stdout: true, stderr: true, system: true }

export function addLogs(program: Command): void {
  program
    .command('logs')
    .argument('<deployment>', DEPLOYMENT_ARGUMENT)
    .description('show the log of a deployment; with json one line per entry, with yaml one document')
    .option('-f, --follow', 'follow the log until the deployment has ended')
    .option('--from-line <number>', 'number of the first line, from 0', parseIntegerBetween(0, 999_999_999), 0)
    .option('--tail <number>', 'only the last lines', parseIntegerBetween(0, 1_000_000))
    .option('--since <time>', 'only the lines since then: 10m (ago), 14:30, "2026-01-31 09:00"', parsePastTime)
    .option('--until <time>', 'only the lines before', parsePastTime)
    .option('--timestamps', 'begin each line with its time')
    .option('--search <text>', 'only the lines with this text, in upper or lower case')
    .option('-t, --target <name>', 'only the lines of this target (repeatable)', collect(String))
    .option('--action <name>', 'only the lines of the steps with this action')
    .option('--step <id>', 'only the lines of this step')
    .addOption(new Option('--level <level>', 'only the lines of this level').choices(Object.keys(LEVELS)))
    .addOption(
      new Option('--stream <stream>', 'only the lines of this origin; system: the sentences of Slipway')
        .choices(Object.keys(STREAMS))
        .conflicts('follow'),
    )
    .addOption(
      new Option('--raw', 'print the output alone, with its colours, as the commands wrote it').conflicts([
        'follow',
        'tail',
        'since',
        'until',
        'timestamps',
      ]),
    )
    .action(provideContext(showLogs))
}

interface LogOptions {
  follow?: boolean
  fromLine: number
  tail?: number
  since?: string
  until?: string
  timestamps?: boolean
  raw?: boolean
  search?: string
  target?: string[]
  action?: string
  step?: string
  level?: LogFilter['level']
  stream?: LogFilter['stream']
}

async function showLogs(context: Context, reference: string, options: LogOptions): Promise<void> {
  await runUntilInterrupted(context.io, undefined, async (signal) => {
    const waitInQueue = async ({ id }: Schema<'PendingRequest'>) => {
      const deploymentId = await waitForDispatch(context, id, signal)
      if (deploymentId !== null) await showLogOf(context, deploymentId, options, signal)
    }
    const show = (id: string) => showLogOf(context, id, options, signal)
    await withDeployment(context, reference, show, options.follow ? waitInQueue : refuseWhilePending)
  })
}

async function showLogOf(context: Context, id: string, options: LogOptions, signal: AbortSignal): Promise<void> {
  const { client, output, screen } = context
  const { follow, search, level, stream, since, until, timestamps, tail, step: step_id, fromLine } = options
  const targets = await Promise.all((options.target ?? []).map((name) => findId(client, 'target', name)))
  const action_id = options.action === undefined ? undefined : await findId(client, 'action', options.action)
  const deployment = await client.call('getDeployment', { params: { id }, signal })
  const isWanted = createLineFilter(deployment, { targets, action_id, step_id, level, search, since, until })
  const view = new DeploymentView(deployment, screen, { log: true, timestamps: timestamps === true })
  let isEmpty = true
  const show = (log: StreamLog) => {
    isEmpty = false
    if (output.isForPeople) view.show({ event: 'log', data: { type: 'log', log } })
    // A program gets each line once, when the line is finished.
    else if (!log.metadata?.partial) output.printItem(log)
  }
  // The server filters by one target.
  const target_id = targets.length === 1 ? targets[0] : undefined
  const filter = omitUndefined({ target_id, action_id, step_id, level, stream, search })
  if (options.raw) return await printRaw(context, id, { ...filter, from: fromLine, signal }, targets.length)
  const isLive = follow === true && !isFinalState(deployment.state)
  try {
    let from = fromLine
    if (!isLive || tail !== undefined) {
      from = await readStoredLines(context, id, {
        ...omitUndefined({ tail }),
        from,
        filter: { ...filter, signal },
        isWanted,
        show,
      })
    }
    if (!isLive) {
      if (isEmpty && output.isForPeople) context.io.stderr.write('no lines\n')
      return
    }
    const outages = reportOutages(context, { hasLines: true })
    for await (const message of client.followLogs(id, { from, signal, ...outages })) {
      if (message.event !== 'log') {
        if (output.isForPeople) view.show(message)
      } else if (isWanted(message.data.log)) show(message.data.log)
    }
  } finally {
    screen.end()
  }
}

/** Prints the output as the server sends it, no faster than it is taken. */
async function printRaw(
  { client, io }: Context,
  id: string,
  query: LogFilter & { from: number; signal: AbortSignal },
  targetCount: number,
): Promise<void> {
  if (targetCount > 1) throw new UsageError('--raw takes one --target: call it once for each target')
  const { body } = await client.openLogText(id, { ...query, raw: 'true' })
  if (body !== null) await pipeline(body, io.stdout, { end: false })
}

interface StoredLines {
  from: number
  tail?: number
  filter: LogFilter & { signal: AbortSignal }
  isWanted: (log: StreamLog) => boolean
  show: (log: StreamLog) => void
}

/** Shows the lines that are stored now, or the last ones of them. Returns the number of the line after them. */
async function readStoredLines(
  { client }: Context,
  id: string,
  { from, tail, filter, isWanted, show }: StoredLines,
): Promise<number> {
  const last: StreamLog[] = []
  let next = from
  for (;;) {
    const page = await client.readLog(id, { ...filter, from: next, limit: PAGE })
    for (const { timestamp, level, step_id, target_id, target_name, message, ...entry } of page.entries) {
      const metadata = entry.metadata as { seq: number } | null
      const log = { timestamp, level, step_id, target_id, target_name, message, metadata }
      if (!isWanted(log)) continue
      if (tail === undefined) show(log)
      else last.push(log)
    }
    if (tail !== undefined) last.splice(0, last.length - tail)
    next = page.next
    if (next >= page.lines) break
  }
  for (const log of last) show(log)
  return next
}

interface LineFilter {
  targets: readonly string[]
  action_id: string | undefined
  step_id: string | undefined
  level: string | undefined
  search: string | undefined
  since: string | undefined
  until: string | undefined
}

/** The rule of the server for what it cannot filter: live lines, and lines of several targets. */
function createLineFilter(
  { plan }: Schema<'DeploymentDetail'>,
  { targets, action_id, step_id, level, search, since, until }: LineFilter,
): (line: StreamLog) => boolean {
  const withAction = (plan?.steps ?? []).filter((step) => step.action_id === action_id).map(({ id }) => id)
  const steps = action_id === undefined ? null : new Set(withAction)
  const text = search?.toLowerCase()
  const begin = since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since)
  const end = until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until)
  return (line) =>
    Date.parse(line.timestamp) >= begin &&
    Date.parse(line.timestamp) < end &&
    (targets.length === 0 || (line.target_id !== null && targets.includes(line.target_id))) &&
    (steps === null || (line.step_id !== null && steps.has(line.step_id))) &&
    (step_id === undefined || line.step_id === step_id.toLowerCase()) &&
    (level === undefined || line.level === level) &&
    (text === undefined || stripVTControlCharacters(line.message).toLowerCase().includes(text))
}
