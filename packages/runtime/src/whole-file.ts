import { open, rename } from 'node:fs/promises'
import path from 'node:path'

/** Gives a file this text, for its owner alone: whole or not at all, also where the power goes. One call at a time. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const draft = `${file}.draft`
  const handle = await open(draft, 'w', 0o600)
  try {
    // A draft that was left may have been made otherwise.
    await handle.chmod(0o600)
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(draft, file)
  await syncFolder(path.dirname(file))
}

/** A file that was made, renamed or deleted is so for good only when its folder is on the disk as well. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
