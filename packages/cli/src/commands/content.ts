import { readFile, writeFile } from 'node:fs/promises'
import type { Item, SlipwayClient } from '@slipway/client'
import type { Command } from 'commander'
import { RefusedError } from '../exit-code.ts'
import { formatNames } from '../terminal/name-list.ts'
import { formatRecord } from '../terminal/record.ts'
import { showTime } from '../terminal/table.ts'
import { type Context, provideContext } from './context.ts'
import { chooseEntry } from './entries.ts'
import { take } from './lists.ts'
import { addNoun, LIST } from './nouns.ts'
import { addListAction } from './watching.ts'

const SHA256 = /^[0-9a-f]{64}$/i
const HASH_ARGUMENT = 'SHA-256 of the content, or the beginning of it'

export function addContent(program: Command): void {
  const content = addNoun(program, 'content', 'files that actions use, named by their SHA-256', {
    create: 'use `slipway content upload FILE`',
    edit: 'content never changes: upload another file with `slipway content upload FILE`',
    delete: 'the server deletes content that no action has used for a while',
  })
  const listing = content
    .command('list', LIST)
    .description('list files, last uploaded first, and the actions that use them')
  addListAction(listing, list)
  content
    .command('upload')
    .argument('<files...>', 'paths of the files')
    .description('upload files; content that is on the server already is not stored twice')
    .action(provideContext(upload))
  content
    .command('show')
    .argument('<sha256>', HASH_ARGUMENT)
    .description('show size, time and uses of one file')
    .action(
      provideContext(async ({ client, output }, hash: string) => {
        const found = await findContent(client, hash)
        output.printRecord(found, () => formatRecord('content', found, () => null))
      }),
    )
  content
    .command('download')
    .argument('<sha256>', HASH_ARGUMENT)
    .argument('[file]', 'path to write to; default: stdout')
    .description('download a file')
    .action(
      provideContext(async ({ io, client }, hash: string, file: string | undefined) => {
        // Not every caller that may read content may list it.
        const sha256 = SHA256.test(hash) ? hash : (await findContent(client, hash)).id
        const bytes = await client.call('getContent', { params: { sha256 } })
        if (file === undefined) io.stdout.write(bytes)
        else await writeFile(file, bytes)
      }),
    )
}

const findContent = async (client: SlipwayClient, hash: string) =>
  chooseEntry('content', await take(client.each('listContent')), hash, 'files')

async function list({ client, output }: Context): Promise<void> {
  output.printList(
    await take(client.each('listContent')),
    [
      ['SHA-256', ({ id }) => id],
      ['SIZE', ({ size }) => size],
      ['UPLOADED', ({ uploaded_at }) => showTime(uploaded_at)],
      ['USED BY', formatUses],
    ],
    'no content',
  )
}

function formatUses({ used_by, version_count }: Item<'listContent'>): string | undefined {
  const names = used_by.map(({ action_name, version }) => `${action_name} ${version}`)
  return version_count === 0 ? undefined : formatNames(names, version_count, 2)
}

async function upload({ client, output }: Context, files: readonly string[]): Promise<void> {
  // Read all files before the first upload: a wrong path must not leave half of them on the server.
  const contents = await Promise.all(files.map(async (file) => ({ file, body: await readContent(file) })))
  const uploaded = []
  for (const { file, body } of contents) uploaded.push({ ...(await client.call('createContent', { body })), file })
  output.printList(
    uploaded,
    [
      ['SHA-256', ({ id }) => id],
      ['SIZE', ({ size }) => size],
      ['FILE', ({ file }) => file],
    ],
    'no files',
  )
}

async function readContent(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file)
  } catch (error) {
    throw new RefusedError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}
