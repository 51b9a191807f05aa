import path from 'node:path'
import type { Command } from 'commander'
import { readConfiguration, updateConfiguration } from '../configuration/file.ts'
import { checkUrl, type GlobalOptions, readContext } from '../configuration/server.ts'
import { UsageError } from '../exit-code.ts'
import type { Io } from '../io.ts'
import type { Path } from '../terminal/fields.ts'
import { type Column, type Format, Output } from '../terminal/output.ts'
import { requireConsent } from '../terminal/prompt.ts'
import { formatRecord } from '../terminal/record.ts'
import { addNoun, LIST } from './nouns.ts'
import { DO_NOT_ASK } from './record-commands.ts'
import type { Verb } from './record-options.ts'
import { getRoot } from './root.ts'

interface Row {
  name: string
  url: string
  ca_file: string | null
  in_use: boolean
  logged_in: boolean
}

const COLUMNS: Column<Row>[] = [
  ['', ({ in_use }) => (in_use ? '*' : '')],
  ['NAME', ({ name }) => name],
  ['SERVER', ({ url }) => url],
  ['LOGGED IN', ({ logged_in }) => (logged_in ? 'yes' : 'no')],
]

interface OutputOptions {
  output: Format
  select?: Path[]
}

function listRows(io: Io): Row[] {
  const { contexts = {}, context: used } = readConfiguration(io)
  return Object.entries(contexts).map(([name, { url, ca_file = null, session }]) => {
    return { name, url, ca_file, in_use: name === used, logged_in: session !== undefined }
  })
}

/** Another server asks for another login. */
function save(verb: Verb, name: string, command: Command): void {
  const { io } = getRoot(command)
  const { url, caFile } = command.optsWithGlobals<GlobalOptions>()
  if (verb === 'edit') readContext(io, name)
  else if (Object.hasOwn(readConfiguration(io).contexts ?? {}, name))
    throw new UsageError(`there is a context "${name}": use \`slipway contexts edit ${name}\``)
  if (url === undefined && (verb === 'create' || caFile === undefined))
    throw new UsageError(
      `${verb === 'edit' ? 'there is nothing to edit' : 'a context is a server'}: give --url${verb === 'edit' ? ' or --ca-file' : ''}`,
    )
  const chosen = url === undefined ? undefined : checkUrl(url)
  updateConfiguration(io, (configuration) => {
    const { session, ...before } = configuration.contexts?.[name] ?? { url: chosen ?? '' }
    const isSame = chosen === undefined || chosen === before.url
    const context = {
      ...before,
      ...(chosen === undefined ? {} : { url: chosen }),
      ...(caFile === undefined ? {} : { ca_file: path.resolve(caFile) }),
      ...(isSame && session !== undefined ? { session } : {}),
    }
    configuration.contexts = { ...configuration.contexts, [name]: context }
  })
  io.stderr.write(`${verb === 'edit' ? 'edited' : 'created'} context ${name}\n`)
}

export function addContexts(program: Command): void {
  const contexts = addNoun(program, 'contexts', 'servers under names, each with a login of its own')
  contexts
    .command('list', LIST)
    .description('list the contexts; * marks the one in use')
    .action((_options: unknown, command: Command) => {
      const { io } = getRoot(command)
      const { output, select } = command.optsWithGlobals<OutputOptions>()
      new Output(io, output, select).printList(listRows(io), COLUMNS, 'no contexts')
    })
  contexts
    .command('show')
    .argument('<context>', 'name of a context')
    .description('show one context')
    .action((name: string, _options: unknown, command: Command) => {
      const { io } = getRoot(command)
      readContext(io, name)
      const row = listRows(io).find((one) => one.name === name)
      const { output, select } = command.optsWithGlobals<OutputOptions>()
      if (row !== undefined)
        new Output(io, output, select).printRecord(row, () => formatRecord('context', row, () => null))
    })
  for (const verb of ['create', 'edit'] as const) {
    contexts
      .command(verb)
      .argument('<context>', 'name of a context')
      .description(`${verb} a context for the server of --url; \`slipway login --context NAME\` logs in there`)
      .action((name: string, _options: unknown, command: Command) => save(verb, name, command))
  }
  contexts
    .command('use')
    .argument('<context>', 'name of a context')
    .description('use a context from now on, where neither options nor variables name a server')
    .action((name: string, _options: unknown, command: Command) => {
      const { io } = getRoot(command)
      const { url } = readContext(io, name)
      updateConfiguration(io, (configuration) => {
        configuration.context = name
      })
      io.stderr.write(`using ${name}: ${url}\n`)
    })
  contexts
    .command('leave')
    .description('use no context from now on, but the last login without one')
    .action((_options: unknown, command: Command) => {
      const { io } = getRoot(command)
      updateConfiguration(io, (configuration) => {
        delete configuration.context
      })
      const { url } = readConfiguration(io)
      io.stderr.write(`using no context: ${url ?? 'there is no login without one'}\n`)
    })
  contexts
    .command('delete')
    .argument('<context>', 'name of a context')
    .description('delete a context; its session on the server ends by itself, or with `slipway logout` before')
    .option('-y, --yes', DO_NOT_ASK)
    .action(async (name: string, { yes = false }: { yes?: boolean }, command: Command) => {
      const { io } = getRoot(command)
      readContext(io, name)
      await requireConsent(io, `delete context ${name}`, { yes })
      updateConfiguration(io, (configuration) => {
        delete configuration.contexts?.[name]
        if (configuration.context === name) delete configuration.context
      })
      io.stderr.write(`deleted context ${name}\n`)
    })
}
