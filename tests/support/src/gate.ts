import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'

/** Holds commands on this machine until the test opens it. A test needs no time within which it must act. */
export interface Gate {
  /** A script that ends with 0 when the gate is open. */
  script: string
  open(): void
}

export function createGate({ folder }: { folder: string }): Gate {
  const file = path.join(folder, `gate-${randomUUID()}`)
  return { script: `until [ -e '${file}' ]; do sleep 0.1; done`, open: () => fs.writeFileSync(file, '') }
}
