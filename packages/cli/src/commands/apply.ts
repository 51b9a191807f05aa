import { type Command, InvalidArgumentError } from 'commander'
import { EXIT, UsageError } from '../exit-code.ts'
import type { Change, Changes } from '../files/changes.ts'
import { differenceLines, MASKED } from '../files/difference.ts'
import { type FileKind, KINDS } from '../files/kinds.ts'
import { harmless } from '../terminal/colour.ts'
import { action, type Context } from './context.ts'
import { gather } from './values.ts'

// What reads and writes files needs every schema of the API, which takes a while to load: only these commands do it.

export function addApply(program: Command): void {
  program
    .command('apply')
    .description('bring sources, targets, environments, tenants and freezes to what YAML files say')
    .requiredOption('-f, --file <path>', 'a file, or a folder with all YAML in it (repeatable)', gather(String))
    .option('--tenant <name>', 'the tenant of every document that names none')
    .option('--dry-run', 'show what would be changed, and change nothing')
    .option('--exit-code', 'with --dry-run: exit with 1 where something would be changed')
    .option(
      '--resend-secrets',
      'send private keys, passwords, !env and sensitive variables, whose change cannot be seen',
    )
    .action(action(apply))
  program
    .command('export')
    .description('write what the server has as YAML that apply reads; of sources the latest version')
    .option('-d, --directory <folder>', 'a folder for a file of each kind; else everything is printed')
    .option('--kind <kind>', `${KINDS.join(', ')} (repeatable)`, gather(kindOf))
    .action(action(exportAll))
}

function kindOf(text: string): FileKind {
  const kind = KINDS.find((one) => one === text)
  if (kind === undefined) throw new InvalidArgumentError(`Allowed are ${KINDS.join(', ')}.`)
  return kind
}

interface ApplyOptions {
  file: string[]
  tenant?: string
  dryRun?: boolean
  exitCode?: boolean
  resendSecrets?: boolean
}

async function apply({ client, output }: Context, options: ApplyOptions): Promise<number> {
  const { file, tenant, dryRun, exitCode, resendSecrets } = options
  if (exitCode && !dryRun) throw new UsageError('--exit-code is for --dry-run')
  const { loadEntries } = await import('../files/load.ts')
  const { Changes } = await import('../files/changes.ts')
  const entries = loadEntries(file, tenant ?? null)
  const changes = new Changes(client, entries, { resendSecrets: resendSecrets === true })
  const found = await changes.plan()
  const unchanged = entries.length - new Set(found.map(({ entry }) => entry)).size
  const summary = { changes: found.map(summaryOf), unchanged, applied: !dryRun }
  if (output.forPeople) for (const change of found) for (const line of linesOf(change, output)) output.line(line)
  if (!dryRun) await makeAll(changes, found)
  await output.record(summary, () => [resultText(found, unchanged, dryRun === true)])
  return dryRun && exitCode && found.length > 0 ? EXIT.failed : EXIT.success
}

async function makeAll(changes: Changes, found: readonly Change[]): Promise<void> {
  for (const [n, change] of found.entries()) {
    try {
      await changes.make(change)
    } catch (error) {
      const { kind, name, document } = change.entry
      const where = `${document.place('')}: ${kind} ${name}`
      if (n > 0) process.stderr.write(`${n} of ${found.length} changes were made; the next apply goes on at ${where}\n`)
      else process.stderr.write(`nothing was changed; the first was ${where}\n`)
      throw error
    }
  }
}

const SIGNS = { create: ['+', 'green'], publish: ['+', 'green'], change: ['~', 'yellow'] } as const

function titleOf({ what, entry: { kind, name, value } }: Change): string {
  const version = typeof value['version'] === 'string' && what !== 'change' ? ` ${value['version']}` : ''
  return `${what} ${kind} ${harmless(name)}${version}`
}

function linesOf(change: Change, output: Context['output']): string[] {
  const { what, entry, differences } = change
  const [sign, colour] = SIGNS[what]
  const hide = hiderOf(change)
  return [
    `${output.paint(`${sign} ${titleOf(change)}`, colour)}  ${output.paint(entry.document.place(''), 'dim')}`,
    ...differences.flatMap((one) => differenceLines(one, hide).map((line) => `    ${harmless(line)}`)),
  ]
}

/** What came from the environment, and everything in it. */
function hiderOf({ entry: { document } }: Change) {
  const secrets = [...document.secrets]
  return (value: unknown) => {
    const text = JSON.stringify(value) ?? ''
    return secrets.some((secret) => text.includes(JSON.stringify(secret).slice(1, -1)))
  }
}

function summaryOf(change: Change) {
  const { what, entry, differences } = change
  const hide = hiderOf(change)
  const shown = (value: unknown) => (hide(value) ? MASKED : (value ?? null))
  return {
    what,
    kind: entry.kind,
    name: entry.name,
    place: entry.document.place(''),
    differences: differences.map(({ path, from, to, secret }) =>
      secret ? { path, from: MASKED, to: MASKED } : { path, from: shown(from), to: shown(to) },
    ),
  }
}

function resultText(found: readonly Change[], unchanged: number, dryRun: boolean): string {
  const count = (what: Change['what']) => found.filter((change) => change.what === what).length
  const would = dryRun ? 'would be ' : ''
  if (found.length === 0) return `nothing to change: ${unchanged} records are as the files say`
  return `${count('create')} ${would}created, ${count('publish')} ${would}published, ${count('change')} ${would}changed, ${unchanged} unchanged`
}

async function exportAll(
  { client, output }: Context,
  { directory, kind }: { directory?: string; kind?: FileKind[] },
): Promise<void> {
  const { documentsText, exportDocuments, writeDocuments } = await import('../files/export.ts')
  const documents = await exportDocuments(client, new Set(kind ?? KINDS))
  if (directory !== undefined) {
    const files = writeDocuments(directory, documents)
    await output.record({ files }, () => files.map((file) => `wrote ${file}`))
    return
  }
  const all = [...documents.values()].flat()
  if (output.format === 'json') await output.data(all)
  else process.stdout.write(documentsText(all))
}
