import { chmod, mkdir, stat } from 'node:fs/promises'
import path from 'node:path'

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
