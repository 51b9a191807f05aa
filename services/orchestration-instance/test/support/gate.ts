import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import path from 'node:path'

/** Holds commands up until the test lets them through. */
export function gate(folder: string): { wait: string; open(): void } {
  const file = path.join(folder, `${randomUUID()}.gate`)
  return {
    wait: `until [ -e ${file} ]; do sleep 0.05; done`,
    open: () => writeFileSync(file, ''),
  }
}
