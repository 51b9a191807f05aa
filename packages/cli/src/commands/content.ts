import { readFile, writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { RefusedError } from '../exit-code.ts'
import { type Context, provideContext } from './context.ts'

export function addContent(program: Command): void {
  const content = program.command('content').description('files that actions use, named by their SHA-256')
  content
    .command('upload')
    .argument('<files...>', 'paths of the files')
    .description('upload files; content that is on the server already is not stored twice')
    .action(provideContext(upload))
  content
    .command('download')
    .argument('<sha256>', 'SHA-256 of the content')
    .argument('[file]', 'path to write to; default: stdout')
    .description('download a file')
    .action(
      provideContext(async ({ client }, sha256: string, file: string | undefined) => {
        const bytes = await client.call('getContent', { params: { sha256 } })
        if (file === undefined) process.stdout.write(bytes)
        else await writeFile(file, bytes)
      }),
    )
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
