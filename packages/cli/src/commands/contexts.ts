import type { Command } from 'commander'
import { readConfiguration, updateConfiguration } from '../configuration/file.ts'
import { readContext } from '../configuration/server.ts'
import type { Path } from '../terminal/fields.ts'
import { type Column, type Format, Output } from '../terminal/output.ts'
import { requireConsent } from '../terminal/prompt.ts'
import { addNoun, LIST } from './nouns.ts'
import { DO_NOT_ASK } from './record-commands.ts'
import { getRoot } from './root.ts'

interface Row {
  name: string
  url: string
  in_use: boolean
  logged_in: boolean
}

const COLUMNS: Column<Row>[] = [
  ['', ({ in_use }) => (in_use ? '*' : '')],
  ['NAME', ({ name }) => name],
  ['SERVER', ({ url }) => url],
  ['LOGGED IN', ({ logged_in }) => (logged_in ? 'yes' : 'no')],
]

export function addContexts(program: Command): void {
  const contexts = addNoun(program, 'contexts', 'servers under names, each with a login of its own')
  contexts
    .command('list', LIST)
    .description('list the contexts; * marks the one in use')
    .action((_options: unknown, command: Command) => {
      const { io } = getRoot(command)
      const { contexts = {}, context: used } = readConfiguration(io)
      const rows = Object.entries(contexts).map(([name, { url, ca_file = null, session }]) => {
        return { name, url, ca_file, in_use: name === used, logged_in: session !== undefined }
      })
      const { output, select } = command.optsWithGlobals<{ output: Format; select?: Path[] }>()
      new Output(io, output, select).printList(rows, COLUMNS, 'no contexts')
    })
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
