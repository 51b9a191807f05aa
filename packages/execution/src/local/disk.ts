import { statfs } from 'node:fs/promises'

/** Whether nothing more can be made in the folder. For programs whose errors are texts only. */
export async function isDiskFull(folder: string): Promise<boolean> {
  const { blocks, bavail, files, ffree } = await statfs(folder)
  return (blocks > 0 && bavail === 0) || (files > 0 && ffree === 0)
}
