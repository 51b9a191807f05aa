import { open, rename } from 'node:fs/promises'
import path from 'node:path'

/** Writes a file that only its owner can read, as a whole or not at all, even after a power failure. One call at a time. */
export async function writeFileAtomically(file: string, text: string): Promise<void> {
  const draft = `${file}.draft`
  const handle = await open(draft, 'w', 0o600)
  try {
    // A draft of an earlier call may have other permissions.
    await handle.chmod(0o600)
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(draft, file)
  await syncFolder(path.dirname(file))
}

/** Without this, the creation, renaming or deletion of a file may not survive a power failure. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
