import type { Input, Item } from '@slipway/client'
import { type Command, Option } from 'commander'
import { EXIT_CODES } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { formatCount, showTime } from '../terminal/table.ts'
import { type Context, provideContext } from './context.ts'
import { take } from './lists.ts'
import { addNeeds } from './needs.ts'
import { findId, findSourceFilter, SOURCES, type SourceKind } from './records.ts'
import { collect, parseDuration } from './values.ts'
import { runUntilInterrupted } from './wait.ts'

type Installed = Item<'listReleases'>

const POLL_MS = 1_000

interface DriftOptions {
  kind?: SourceKind
  target?: string[]
  check?: boolean
  wait?: boolean
  /** In milliseconds. */
  timeout?: number
}

export function addDrift(program: Command): void {
  const drift = program
    .command('drift')
    .argument('[source]', 'only of this solution, sequence or action, by name or id')
    .description('show what has changed on targets since its deployment; exit code 1 if anything has')
    .addOption(new Option('--kind <kind>', 'for ambiguous names').choices(SOURCES))
    .option('-t, --target <name>', 'only on this target, by name or id; repeatable', collect(String))
    .option('--check', 'check now; needs a source or a target')
    .option('-w, --wait', 'wait for checks that run or were asked for')
    .option('--timeout <duration>', 'how long to wait, for example 10m; then the exit code is 5', parseDuration)
    .action(provideContext(showDrift))
  addNeeds(drift, ['--timeout'], ['--wait'])
  addNeeds(drift, ['--check'], ['source', '--target'])
  addNeeds(drift, ['--kind'], ['source'])
}

async function showDrift(context: Context, source: string | undefined, options: DriftOptions): Promise<number> {
  const { client, output, screen } = context
  const ofSource = source === undefined ? {} : await findSourceFilter(client, source, options.kind)
  const targetIds = await findTargets(context, options.target)
  if (options.check) {
    const body = { ...ofSource, ...(targetIds === undefined ? {} : { target_ids: targetIds }) }
    const { total, unchecked } = await client.call('checkReleases', { body })
    const without = unchecked > 0 ? `; ${unchecked} without a check` : ''
    if (!options.wait) {
      output.printRecord({ total, unchecked }, () => [`checking ${formatCount(total, 'release')}${without}`])
      return EXIT_CODES.success
    }
    screen.writeLine(`checking ${formatCount(total, 'release')}${without}`)
  }
  const read = () => readReleases(context, ofSource, targetIds)
  const found = options.wait
    ? await runUntilInterrupted(context.io, options.timeout, (signal) => waitForChecks(context.io, read, signal))
    : await read()
  const drifted = found.filter(({ check }) => check !== null && check.drifted_since !== null)
  output.printList(
    drifted,
    [
      ['SOURCE', ({ source_name }) => source_name],
      ['TARGET', ({ target_name }) => target_name],
      ['VERSION', ({ version }) => version],
      ['SINCE', ({ check }) => showTime(check?.drifted_since)],
      ['CHECKED', ({ check }) => showTime(check?.checked_at)],
      ['FOUND', ({ check }) => check?.message?.split('\n')[0] ?? null],
    ],
    describeNothing(found),
  )
  return drifted.length > 0 ? EXIT_CODES.failed : EXIT_CODES.success
}

function describeNothing(found: readonly Installed[]): string {
  const checked = found.filter(({ check }) => check !== null && check.result !== null).length
  return checked === 0 ? 'nothing was checked yet' : `nothing has drifted (${formatCount(checked, 'release')} checked)`
}

async function findTargets({ client }: Context, names: readonly string[] | undefined): Promise<string[] | undefined> {
  if (names === undefined) return undefined
  return await Promise.all(names.map((name) => findId(client, 'target', name)))
}

type Filter = NonNullable<Input<'listReleases'>['query']>

async function readReleases({ client }: Context, filter: Filter, targetIds: readonly string[] | undefined) {
  const queries = targetIds === undefined ? [filter] : targetIds.map((target_id) => ({ ...filter, target_id }))
  const found: Installed[] = []
  for (const query of queries) found.push(...(await take(client.each('listReleases', { query }))))
  return found
}

async function waitForChecks(io: Io, read: () => Promise<Installed[]>, signal: AbortSignal): Promise<Installed[]> {
  for (;;) {
    const found = await read()
    if (found.every(({ check }) => !check?.is_pending)) return found
    await io.sleep(POLL_MS, signal)
  }
}
