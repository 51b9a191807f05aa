import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { UserProcesses } from './local-user.ts'

/**
 * Sends a signal to all of a group, if it still exists. `owner` runs processes as the user of the group: without
 * CAP_KILL this process may not signal those of another user.
 */
export async function signalGroup(group: number, signal: NodeJS.Signals, owner?: UserProcesses): Promise<void> {
  try {
    process.kill(-group, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return
    await owner?.run('kill -s "$1" -- "-$2"', [signal.slice('SIG'.length), String(group)]).catch(() => {})
  }
}

/** Waits until none of the group runs, at most `limitMs`. Returns whether that is so. */
export async function groupEnds(group: number, limitMs: number): Promise<boolean> {
  const until = Date.now() + limitMs
  for (let pauseMs = 10; await isRunning(group); pauseMs = Math.min(2 * pauseMs, 250)) {
    const left = until - Date.now()
    if (left <= 0) return false
    await delay(Math.min(pauseMs, left))
  }
  return true
}

/** The dead count as members until somebody has asked for their exit status, which in a container may be nobody. */
async function isRunning(group: number): Promise<boolean> {
  if (!exists(group)) return false
  const processes = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  if (processes.length === 0) return true
  const states = await Promise.all(processes.map((id) => readFile(`/proc/${id}/stat`, 'utf8').catch(() => '')))
  return states.some((stat) => {
    // `1234 (name) S 1 1234 …`: the name may hold anything.
    const [state, , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return Number(processGroup) === group && state !== 'Z' && state !== 'X'
  })
}

function exists(group: number): boolean {
  try {
    process.kill(-group, 0)
    return true
  } catch (error) {
    // EPERM: there is such a group, of another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
