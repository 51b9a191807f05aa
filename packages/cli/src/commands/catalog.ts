import type { Command } from 'commander'
import { sanitize } from '../terminal/controls.ts'
import { formatRecord } from '../terminal/record.ts'
import { showTime } from '../terminal/table.ts'
import { take } from './lists.ts'
import { addRecordCommands, type Editing } from './record-commands.ts'
import { findId, type SourceKind } from './records.ts'
import { ACTION, SEQUENCE, SOLUTION } from './sources.ts'
import { addListAction } from './watching.ts'

const LIST_VERSIONS = {
  action: 'listActionVersions',
  sequence: 'listSequenceVersions',
  solution: 'listSolutionVersions',
} as const
const GET_VERSION = {
  action: 'getActionVersion',
  sequence: 'getSequenceVersion',
  solution: 'getSolutionVersion',
} as const

/** Adds the commands for what is deployed. */
export function addCatalog(program: Command): void {
  addSource(program, 'actions', 'actions: single scripts', ACTION)
  addSource(program, 'sequences', 'sequences: actions in their order', SEQUENCE)
  addSource(program, 'solutions', 'solutions: sequences that are deployed together', SOLUTION)
}

function addSource<K extends SourceKind, O extends object, F extends object>(
  program: Command,
  name: string,
  description: string,
  editing: Editing<K, O, F>,
): void {
  const { kind }: { kind: SourceKind } = editing
  const parent = addRecordCommands(program, name, description, editing)
  const versions = parent
    .command('versions')
    .argument(`<${kind}>`, `name or id of the ${kind}`)
    .argument('[version]', 'show the definition of this version')
    .description('list the published versions, or show one')
  addListAction(versions, async ({ client, output }, nameOrId: string, version: string | undefined) => {
    const id = await findId(client, kind, nameOrId)
    if (version !== undefined) {
      const record = await client.call(GET_VERSION[kind], { params: { id, version } })
      output.printRecord(record, () => formatRecord('version', record, () => null))
      return
    }
    const list = await take(client.each(LIST_VERSIONS[kind], { params: { id } }))
    output.printList(
      list,
      [
        ['VERSION', (one) => sanitize(one.version)],
        ['PUBLISHED', ({ created_at }) => showTime(created_at)],
      ],
      'no versions',
    )
  })
}
