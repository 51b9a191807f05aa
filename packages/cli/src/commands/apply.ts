import { type Command, InvalidArgumentError } from 'commander'
import { EXIT_CODES, UsageError } from '../exit-code.ts'
import type { Change, Reconciler } from '../files/changes.ts'
import { formatDifference, MASKED } from '../files/difference.ts'
import { type FileKind, KINDS } from '../files/kinds.ts'
import { sanitize } from '../terminal/colour.ts'
import { type Context, provideContext } from './context.ts'
import { collect } from './values.ts'

// Import files/ inside these commands only: it loads every schema of the API, which slows down the start.

export function addApply(program: Command): void {
  program
    .command('apply')
    .description('create and change sources, targets, environments, tenants and freezes as in YAML files')
    .requiredOption('-f, --file <path>', 'a file, or a folder with all YAML in it (repeatable)', collect(String))
    .option('--tenant <name>', 'the tenant of every document without a tenant')
    .option('--dry-run', 'show the changes, and change nothing')
    .option('--exit-code', 'with --dry-run: exit with 1 if there are changes')
    .option(
      '--resend-secrets',
      'send private keys, passwords, !env and sensitive variables, because their changes cannot be detected',
    )
    .action(provideContext(apply))
  program
    .command('export')
    .description('write the records of the server as YAML for apply, sources in the latest version')
    .option('-d, --directory <folder>', 'write one file per kind to this folder; default: print everything')
    .option('--kind <kind>', `${KINDS.join(', ')} (repeatable)`, collect(parseKind))
    .action(provideContext(exportCatalog))
}

function parseKind(text: string): FileKind {
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
  const { Reconciler } = await import('../files/changes.ts')
  const entries = loadEntries(file, tenant ?? null)
  const reconciler = new Reconciler(client, entries, { resendSecrets: resendSecrets === true })
  const found = await reconciler.plan()
  const unchanged = entries.length - new Set(found.map(({ entry }) => entry)).size
  const summary = { changes: found.map(summarizeChange), unchanged, applied: !dryRun }
  if (output.isForPeople)
    for (const change of found) for (const line of formatChange(change, output)) output.writeLine(line)
  if (!dryRun) await applyChanges(reconciler, found)
  output.printRecord(summary, () => [formatResult(found, unchanged, dryRun === true)])
  return dryRun && exitCode && found.length > 0 ? EXIT_CODES.failed : EXIT_CODES.success
}

async function applyChanges(reconciler: Reconciler, found: readonly Change[]): Promise<void> {
  for (const [n, change] of found.entries()) {
    try {
      await reconciler.apply(change)
    } catch (error) {
      const { kind, name, document } = change.entry
      const where = `${document.getPlace('')}: ${kind} ${name}`
      if (n > 0) process.stderr.write(`${n} of ${found.length} changes were made; the next apply goes on at ${where}\n`)
      else process.stderr.write(`nothing was changed; the first was ${where}\n`)
      throw error
    }
  }
}

const SIGNS = { create: ['+', 'green'], publish: ['+', 'green'], change: ['~', 'yellow'] } as const

function formatTitle({ what, entry: { kind, name, value } }: Change): string {
  const version = typeof value['version'] === 'string' && what !== 'change' ? ` ${value['version']}` : ''
  return `${what} ${kind} ${sanitize(name)}${version}`
}

function formatChange(change: Change, output: Context['output']): string[] {
  const { what, entry, differences } = change
  const [sign, colour] = SIGNS[what]
  const hide = createSecretDetector(change)
  return [
    `${output.paint(`${sign} ${formatTitle(change)}`, colour)}  ${output.paint(entry.document.getPlace(''), 'dim')}`,
    ...differences.flatMap((one) => formatDifference(one, hide).map((line) => `    ${sanitize(line)}`)),
  ]
}

/** Returns a function that detects values of environment variables, also inside a larger value. */
function createSecretDetector({ entry: { document } }: Change) {
  const secrets = [...document.secrets]
  return function hasSecret(value: unknown): boolean {
    if (typeof value === 'object' && value !== null) return Object.entries(value).flat().some(hasSecret)
    return secrets.some((secret) => String(value ?? '').includes(secret))
  }
}

function summarizeChange(change: Change) {
  const { what, entry, differences } = change
  const hide = createSecretDetector(change)
  const mask = (value: unknown) => (hide(value) ? MASKED : (value ?? null))
  return {
    what,
    kind: entry.kind,
    name: entry.name,
    place: entry.document.getPlace(''),
    differences: differences.map(({ path, from, to, secret }) =>
      secret ? { path, from: MASKED, to: MASKED } : { path, from: mask(from), to: mask(to) },
    ),
  }
}

function formatResult(found: readonly Change[], unchanged: number, dryRun: boolean): string {
  const count = (what: Change['what']) => found.filter((change) => change.what === what).length
  const would = dryRun ? 'would be ' : ''
  if (found.length === 0) return `nothing to change: ${unchanged} records match the files`
  return `${count('create')} ${would}created, ${count('publish')} ${would}published, ${count('change')} ${would}changed, ${unchanged} unchanged`
}

async function exportCatalog(
  { client, output }: Context,
  { directory, kind }: { directory?: string; kind?: FileKind[] },
): Promise<void> {
  const { formatDocuments, exportDocuments, writeDocuments } = await import('../files/export.ts')
  const documents = await exportDocuments(client, new Set(kind ?? KINDS))
  if (directory !== undefined) {
    const files = writeDocuments(directory, documents)
    output.printRecord({ files }, () => files.map((file) => `wrote ${file}`))
    return
  }
  const all = [...documents.values()].flat()
  if (output.format === 'json') output.printData(all)
  else process.stdout.write(formatDocuments(all))
}
