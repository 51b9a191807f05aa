import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { type CommandFile, FileError } from '../command.ts'

const FOLDER_MODE = 0o755

/** Creates a folder and the missing folders above it. Their permissions do not depend on the umask of this process. */
export async function makeFolders(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true })
  if (first === undefined) return
  for (let made = path.resolve(folder); made.startsWith(first); made = path.dirname(made)) {
    // A folder may inherit the set-group-id bit.
    const { mode } = await stat(made)
    await chmod(made, (mode & 0o7000) | FOLDER_MODE)
  }
}

/** Copies the files of a command into its working directory, each as a whole or not at all. Throws FileError. */
export async function placeFiles(
  files: readonly CommandFile[],
  directory: string,
  machine: string,
  signal: AbortSignal,
): Promise<void> {
  for (const file of files) {
    const place = path.join(directory, file.path)
    const folder = path.dirname(place)
    const draft = path.join(folder, `.slipway-${randomUUID()}`)
    try {
      await makeFolders(folder)
      if (!(await copy(file, draft, signal))) {
        throw new FileError(`the file ${file.path} was damaged on the disk of ${machine}`, file.content)
      }
      await rename(draft, place)
    } catch (error) {
      await rm(draft, { force: true }).catch(() => {})
      if (signal.aborted || error instanceof FileError) throw error
      const { code, message } = error as NodeJS.ErrnoException
      throw new FileError(
        `the file ${file.path} could not be put into the working directory (${code ?? message})`,
        file.content,
        { cause: error },
      )
    }
  }
}

/** Makes a copy and not a link, because commands may write to their files. Returns whether the hash is right. */
async function copy(file: CommandFile, draft: string, signal: AbortSignal): Promise<boolean> {
  const hash = createHash('sha256')
  const handle = await open(draft, 'wx', 0o600)
  try {
    for await (const piece of createReadStream(file.source, { highWaterMark: 1024 * 1024, signal })) {
      hash.update(piece as Buffer)
      await handle.writeFile(piece as Buffer)
    }
    await handle.chmod(Number.parseInt(file.mode, 8))
  } finally {
    await handle.close()
  }
  return hash.digest('hex') === file.content
}
