import fs from 'node:fs'

/** A line that a command wrote itself. */
export interface Marker {
  /** Undo and undone: of a rollback script. Alive: of a command that never ends by itself. */
  what: 'start' | 'end' | 'overlap' | 'alive' | 'undo' | 'undone'
  deployment: string
  target: string
  step: string
  attempt: number
  pid: number
  /** Milliseconds since the machine started. */
  at: number
  /** Its working directory, which is inside the folder of its instance. */
  folder: string
  /** Its place among all markers: every instance appends to the same file. */
  order: number
}

export function readMarkers(file: string): Marker[] {
  return fs
    .readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line, order) => {
      const [what, deployment, target, step, attempt, pid, up, folder] = line.split(' ')
      if (folder === undefined) throw new Error(`not a marker: ${line}`)
      return {
        what: what as Marker['what'],
        deployment: deployment as string,
        target: target as string,
        step: step as string,
        attempt: Number(attempt),
        pid: Number(pid),
        at: Number(up) * 1_000,
        folder,
        order,
      }
    })
}
