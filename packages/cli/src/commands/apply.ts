import { ApiError, type SlipwayClient } from '@slipway/client'
import { type Command, InvalidArgumentError } from 'commander'
import { EXIT_CODES, RefusedError, UsageError } from '../exit-code.ts'
import type { Change, Deletion } from '../files/change.ts'
import type { Reconciler } from '../files/changes.ts'
import { type FileKind, KINDS } from '../files/kinds.ts'
import type { FileSet } from '../files/load.ts'
import type { Reads } from '../files/reads.ts'
import type { listTakeOvers } from '../files/take-over.ts'
import type { Io } from '../io.ts'
import {
  formatChange,
  formatDeletion,
  formatTakeOvers,
  formatUpload,
  summarizeChange,
  summarizeDeletion,
} from '../terminal/changes.ts'
import type { Output } from '../terminal/output.ts'
import { confirm, hasTerminal } from '../terminal/prompt.ts'
import { formatCount } from '../terminal/table.ts'
import { type Context, provideContext } from './context.ts'
import { addNeeds } from './needs.ts'
import { collect } from './values.ts'

// Import files/ inside these commands only: it loads every schema of the API, which slows down the start.

export function addApply(program: Command): void {
  const command = program
    .command('apply')
    .description('create and change sources, targets, environments, tenants and freezes as in YAML files')
    .requiredOption(
      '-f, --file <path>',
      'a file, a folder with all YAML in it, or - for stdin (repeatable)',
      collect(String),
    )
    .option('--env <name>', 'a variable that `!env` may put into any field (repeatable)', collect(String))
    .option('--allow-outside', 'let `!file` and `!content` read files outside of the given folder')
    .option('--tenant <name>', 'the tenant of every document without a tenant')
    .option('--manager <name>', 'the name under which these files own records; default: `manager:` of a file')
    .option('--take-over', 'also change records that have another manager, or none')
    .option('--prune', 'delete the records of the manager that the files no longer name')
    .option('--yes', 'with --prune: delete without a question')
    .option('--dry-run', 'show the changes and what the server would refuse, and change nothing')
    .option('--exit-code', 'with --dry-run: exit with 1 if there are changes')
    .option(
      '--resend-secrets',
      'send private keys, passwords, !env and sensitive variables, because their changes cannot be detected',
    )
    .action(provideContext(apply))
  addNeeds(command, ['--yes'], ['--prune'])
  addNeeds(command, ['--exit-code'], ['--dry-run'])
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
  env?: string[]
  allowOutside?: boolean
  tenant?: string
  manager?: string
  takeOver?: boolean
  prune?: boolean
  yes?: boolean
  dryRun?: boolean
  exitCode?: boolean
  resendSecrets?: boolean
}

async function apply({ io, client, output }: Context, options: ApplyOptions): Promise<number> {
  const {
    file,
    tenant = null,
    dryRun = false,
    exitCode,
    prune = false,
    takeOver = false,
    resendSecrets = false,
  } = options

  const { loadFileSet, STDIN } = await import('../files/load.ts')
  const { chooseManager } = await import('../files/manager.ts')
  const { Reconciler } = await import('../files/changes.ts')
  const { listTakeOvers } = await import('../files/take-over.ts')
  const { uploadContent } = await import('../files/uploads.ts')
  const fileSet = loadFileSet(file, {
    defaultTenant: tenant,
    env: io.env,
    allowOutside: options.allowOutside ?? false,
    allowedVariables: new Set(options.env),
    ...(file.includes(STDIN) ? { stdin: await readStdin(io) } : {}),
  })
  const manager = chooseManager(options.manager, fileSet.manager)
  if (prune && manager === null && fileSet.problems.length === 0) {
    const name = 'add a document with `manager: NAME` to the files, or give --manager NAME'
    throw new UsageError(`--prune deletes what a manager no longer names, and the files have no manager: ${name}`)
  }
  const { entries } = fileSet
  const reconciler = new Reconciler(client, fileSet, { manager, resendSecrets, takeOver })
  const {
    changes: found,
    deletions,
    uploads,
    checked,
  } = await planAll(client, reconciler, fileSet, { prune, tenant, dryRun })
  if (output.isForPeople) {
    for (const change of found) for (const line of formatChange(change, output)) output.writeLine(line)
    for (const deletion of deletions) output.writeLine(formatDeletion(deletion, output))
    for (const upload of uploads) output.writeLine(formatUpload(upload, output))
  }
  const takeOvers = takeOver ? [] : listTakeOvers(found)
  if (dryRun) {
    warnOfTakeOver(io, takeOvers, manager, output)
    output.warn(checked.warnings)
  } else {
    await confirmTakeOver(io, takeOvers, manager)
    if (!options.yes) await confirmDeletions(io, deletions, output)
    for (const upload of uploads) await uploadContent(client, upload)
    await applyChanges(io, reconciler, found, output)
  }
  const kept = dryRun
    ? [...checked.refusedDeletions].map(([{ kind, record }, reason]) => ({ kind, name: record.name, reason }))
    : await deleteRecords(reconciler, deletions)
  const unchanged = entries.length - new Set(found.map(({ entry }) => entry)).size
  const summary = {
    manager,
    changes: [...found.map(summarizeChange), ...deletions.map(summarizeDeletion)],
    uploads,
    unchanged,
    applied: !dryRun,
    ...(dryRun ? { reads: { files: [...fileSet.reads.files], variables: [...fileSet.reads.variables] } } : {}),
    ...(prune ? { not_deleted: kept } : {}),
  }
  const lines = () => [
    ...(dryRun ? formatReads(fileSet.reads) : []),
    formatResult({ found, deleted: deletions.length - kept.length, kept: kept.length, unchanged, dryRun }),
    ...(found.length > 0 && manager !== null ? [`manager: ${manager}`] : []),
  ]
  if (output.format === 'name') output.printNames(summary.changes.map(({ name }) => name))
  else output.printRecord(summary, lines)
  const wasNot = dryRun ? 'would not be deleted' : 'was not deleted'
  output.warn(kept.map(({ kind, name, reason }) => `the ${kind} ${name} ${wasNot}: ${reason}`))
  if (kept.length > 0) return EXIT_CODES.failed
  return exitCode && found.length + deletions.length > 0 ? EXIT_CODES.failed : EXIT_CODES.success
}

async function readStdin({ stdin }: Io): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of stdin) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}

/**
 * Finds the changes and asks the server about them. Nothing is changed. Throws InvalidFilesError with all problems, of the files and
 * of the server.
 */
async function planAll(
  client: SlipwayClient,
  reconciler: Reconciler,
  { problems: ofFiles }: FileSet,
  { prune, tenant, dryRun }: { prune: boolean; tenant: string | null; dryRun: boolean },
) {
  const { InvalidFilesError, sortProblems } = await import('../files/document.ts')
  const { listUploads } = await import('../files/uploads.ts')
  try {
    const { changes, problems } = await reconciler.plan()
    const known = [...ofFiles, ...problems]
    // Records that only a broken document names must not look as if they were to be deleted.
    const deletions = prune && known.length === 0 ? await reconciler.planDeletions(tenant) : []
    const uploads = await listUploads(client, changes)
    const checked = await reconciler.check(changes, { deletions, uploads, assumePermissions: dryRun })
    const all = [...known, ...checked.problems]
    if (all.length > 0) throw new InvalidFilesError(sortProblems(all), ['nothing was changed'])
    return { changes, deletions, uploads, checked }
  } catch (error) {
    if (error instanceof InvalidFilesError || ofFiles.length === 0) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new InvalidFilesError(sortProblems(ofFiles), [`the server could not be asked for more: ${reason}`])
  }
}

type TakeOvers = ReturnType<typeof listTakeOvers>

/** Throws RefusedError unless a person agrees. */
async function confirmTakeOver(io: Io, takeOvers: TakeOvers, manager: string | null): Promise<void> {
  if (takeOvers.length === 0) return
  const list = formatTakeOvers(takeOvers)
  const what = describeTakeOvers(takeOvers, manager)
  if (!hasTerminal(io)) {
    throw new RefusedError([`${what}: give --take-over to change them; nothing was changed`, ...list].join('\n'))
  }
  io.stderr.write(`${what}:\n${list.join('\n')}\n`)
  if (await confirm(io, `take over ${formatCount(takeOvers.length, 'record')}?`, 'give --take-over')) return
  throw new RefusedError('nothing was changed')
}

function describeTakeOvers(takeOvers: TakeOvers, manager: string | null): string {
  const count = `${formatCount(takeOvers.length, 'record')} of these files`
  const [is, has] = takeOvers.length === 1 ? ['is', 'has'] : ['are', 'have']
  return manager === null
    ? `${count} ${has} a manager, and the files name none`
    : `${count} ${is} not managed by "${manager}"`
}

function warnOfTakeOver(io: Io, takeOvers: TakeOvers, manager: string | null, output: Output): void {
  if (takeOvers.length === 0) return
  output.warn([`${describeTakeOvers(takeOvers, manager)}: a change needs --take-over`])
  for (const line of formatTakeOvers(takeOvers)) io.stderr.write(`${line}\n`)
}

async function confirmDeletions(io: Io, deletions: readonly Deletion[], output: Output): Promise<void> {
  if (deletions.length === 0) return
  const count = formatCount(deletions.length, 'record')
  if (!hasTerminal(io)) {
    const next = 'look at them with --dry-run, then give --yes; nothing was changed'
    throw new UsageError(`--prune would delete ${count}, and there is no terminal to ask: ${next}`)
  }
  if (!output.isForPeople) for (const one of deletions) io.stderr.write(`${formatDeletion(one, output)}\n`)
  if (!(await confirm(io, `delete ${count}?`, 'give --yes'))) throw new RefusedError('nothing was changed')
}

async function applyChanges(io: Io, reconciler: Reconciler, found: readonly Change[], output: Output): Promise<void> {
  for (const [n, change] of found.entries()) {
    try {
      output.warn(await reconciler.apply(change))
    } catch (error) {
      const { kind, name, document } = change.entry
      const where = `${document.getPlace('')}: ${kind} ${name}`
      const made = `${n} of ${found.length} changes were made`
      // The server may have made the change before the connection broke.
      const isUnknown = !(error instanceof RefusedError) && !(error instanceof ApiError && error.status < 500)
      if (isUnknown) io.stderr.write(`${made}; it is not known whether ${where} was changed: run apply again\n`)
      else if (n > 0) io.stderr.write(`${made}; the next apply goes on at ${where}\n`)
      else io.stderr.write(`nothing was changed; the first was ${where}\n`)
      throw error
    }
  }
}

/** Returns the records that the server refused to delete. */
async function deleteRecords(reconciler: Reconciler, deletions: readonly Deletion[]) {
  const kept: { kind: FileKind; name: string; reason: string }[] = []
  for (const deletion of deletions) {
    const reason = await reconciler.delete(deletion)
    if (reason !== null) kept.push({ kind: deletion.kind, name: deletion.record.name, reason })
  }
  return kept
}

const formatReads = ({ files, variables }: Reads) => [
  ...[...files].map((file) => `reads the file ${file}`),
  ...[...variables].map((name) => `reads the environment variable ${name}`),
]

interface Result {
  found: readonly Change[]
  deleted: number
  kept: number
  unchanged: number
  dryRun: boolean
}

function formatResult({ found, deleted, kept, unchanged, dryRun }: Result): string {
  const count = (what: Change['what']) => found.filter((change) => change.what === what).length
  const would = dryRun ? 'would be ' : ''
  if (found.length + deleted + kept === 0)
    return `nothing to change: ${formatCount(unchanged, 'record')} ${unchanged === 1 ? 'matches' : 'match'} the files`
  return [
    `${count('create')} ${would}created`,
    `${count('publish')} ${would}published`,
    `${count('change')} ${would}changed`,
    ...(deleted > 0 ? [`${deleted} ${would}deleted`] : []),
    ...(kept > 0 ? [`${kept} not deleted`] : []),
    `${unchanged} unchanged`,
  ].join(', ')
}

async function exportCatalog(
  { io, client, output }: Context,
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
  else io.stdout.write(formatDocuments(all))
}
