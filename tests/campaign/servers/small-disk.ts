import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const SIZE_MIB = 32
const MIB = 1024 * 1024

/** A file system of its own, which can be filled. */
export interface SmallDisk {
  folder: string
  fill(): void
  clear(): void
  remove(): void
}

/** Null where this user may not mount a file system. */
export function mountDisk(): SmallDisk | null {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-campaign-disk-'))
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MIB}m`, 'tmpfs', folder]).status !== 0) {
    fs.rmdirSync(folder)
    return null
  }
  const filler = path.join(folder, 'filler')
  return {
    folder,
    fill() {
      for (let piece = MIB; piece >= 1; piece = Math.floor(piece / 2)) {
        const bytes = Buffer.alloc(piece, 1)
        try {
          for (;;) fs.writeFileSync(filler, bytes, { flag: 'a' })
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
        }
      }
    },
    clear: () => fs.rmSync(filler, { force: true }),
    remove() {
      spawnSync('umount', ['-l', folder])
      fs.rmSync(folder, { recursive: true, force: true })
    },
  }
}
