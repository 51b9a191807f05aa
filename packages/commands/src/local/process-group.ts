import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { UserProcesses } from './local-user.ts'

/**
 * Sends a signal to a process group, if it still exists. Without CAP_KILL this process may not signal processes of another
 * user. Then `owner` sends the signal as that user.
 */
export async function signalGroup(group: number, signal: NodeJS.Signals, owner?: UserProcesses): Promise<void> {
  try {
    process.kill(-group, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return
    await owner?.run('kill -s "$1" -- "-$2"', [signal.slice('SIG'.length), String(group)]).catch(() => {})
  }
}

/** Waits at most `limitMs` until no process of the group runs. Returns false if some still run. */
export async function groupEnds(group: number, limitMs: number): Promise<boolean> {
  const until = performance.now() + limitMs
  for (let pauseMs = 10; (await countRunning(group)) !== 0; pauseMs = Math.min(2 * pauseMs, 250)) {
    const left = until - performance.now()
    if (left <= 0) return false
    await delay(Math.min(pauseMs, left))
  }
  return true
}

/**
 * How many processes of the group run; null if some do and this machine does not tell their number. Ignores zombies. In a
 * container without an init process, no parent may collect their exit status.
 */
export async function countRunning(group: number): Promise<number | null> {
  if (!exists(group)) return 0
  const processes = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  if (processes.length === 0) return null
  const states = await Promise.all(processes.map((id) => readFile(`/proc/${id}/stat`, 'utf8').catch(() => '')))
  return states.filter((stat) => {
    // `1234 (name) S 1 1234 …`. The name may contain spaces and parentheses.
    const [state, , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return Number(processGroup) === group && state !== 'Z' && state !== 'X'
  }).length
}

function exists(group: number): boolean {
  try {
    process.kill(-group, 0)
    return true
  } catch (error) {
    // EPERM means that the group exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
