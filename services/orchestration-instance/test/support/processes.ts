import { readdirSync, readFileSync } from 'node:fs'

/** The ids of live processes with this text in their environment or arguments. Tests mark their processes with a UUID. */
export function processesWith(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((id) => isAlive(id) && (read(id, 'environ').includes(mark) || read(id, 'cmdline').includes(mark)))
    .map(Number)
}

/** The id of the ssh server that is an ancestor of this process. */
export function serverOf(id: number): number {
  for (let parent = id; parent > 1; ) {
    const [, name, rest = ''] = /^\d+ \((.*)\) (.*)/s.exec(read(String(parent), 'stat')) ?? []
    if (name?.startsWith('sshd')) return parent
    parent = Number(rest.split(' ')[1])
  }
  throw new Error(`process ${id} runs under no ssh server`)
}

/** A zombie counts as dead: it has ended, and its parent has not read its exit status yet. */
function isAlive(id: string): boolean {
  const stat = read(id, 'stat')
  return stat !== '' && !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
}

function read(id: string, file: string): string {
  try {
    return readFileSync(`/proc/${id}/${file}`, 'latin1')
  } catch {
    return ''
  }
}
