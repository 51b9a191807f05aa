import { statfs } from 'node:fs/promises'

/** Whether the disk of the folder has no free blocks or inodes. Use it after a program whose error is only a text. */
export async function isDiskFull(folder: string): Promise<boolean> {
  const { blocks, bavail, files, ffree } = await statfs(folder)
  return (blocks > 0 && bavail === 0) || (files > 0 && ffree === 0)
}
