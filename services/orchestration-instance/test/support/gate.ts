import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import path from 'node:path'

/** Makes commands wait until the test opens the gate. */
export function gate(folder: string): { wait: string; open(): void } {
  const file = path.join(folder, `${randomUUID()}.gate`)
  return {
    wait: `until [ -e ${file} ]; do sleep 0.05; done`,
    open: () => writeFileSync(file, ''),
  }
}
