import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { uptime } from '../clock.ts'
import type { Ledger } from '../ledger.ts'
import type { Family, RoundPlan } from '../plan.ts'
import { clientFault } from './clients.ts'
import { clockFault } from './clock.ts'
import { diskFault } from './disk.ts'
import type { Fault, FaultFactory, Scene } from './fault.ts'
import { linkFault } from './links.ts'
import { messageFault } from './messages.ts'
import { processFault } from './processes.ts'
import { serverFault } from './servers.ts'

const FACTORIES: Record<Family, FaultFactory> = {
  processes: processFault,
  servers: serverFault,
  links: linkFault,
  disk: diskFault,
  clock: clockFault,
  messages: messageFault,
  clients: clientFault,
}

/** Injects the faults of a plan at their times. Resolves when the last one is healed. */
export async function runPlan(scene: Scene, plan: RoundPlan, ledger: Ledger): Promise<void> {
  const started = uptime()
  const over = new AbortController()
  // Each active fault listens.
  setMaxListeners(0, over.signal)
  // All faults end a moment after the work of the clients, even those that were planned to last longer.
  const end = setTimeout(() => over.abort(), plan.workMs + 5_000)
  // A fault may take longer than planned. The next one on the same target waits for its end.
  const lastOf = new Map<string, Promise<void>>()
  const all = plan.faults.map(async (planned) => {
    await sleep(Math.max(0, started + planned.at - uptime()))
    const place = `${planned.family} ${planned.target}`
    const before = lastOf.get(place)
    const work = (async () => {
      await before
      if (over.signal.aborted) return
      const fault = FACTORIES[planned.family](scene, planned)
      const at = uptime()
      const problem = await injected(fault)
      if (problem === null) await sleep(planned.durationMs, undefined, { signal: over.signal }).catch(() => {})
      await fault.heal()
      const { family, kind, target } = planned
      const note = problem ?? fault.note?.() ?? ''
      ledger.add({ type: 'fault', family, kind, target, at, healedAt: uptime(), isInjected: problem === null, note })
    })()
    lastOf.set(place, work)
    await work
  })
  await Promise.all(all)
  clearTimeout(end)
}

/** Some faults need a server that another fault has just taken away. Returns why the fault could not be injected. */
async function injected(fault: Fault): Promise<string | null> {
  try {
    await fault.inject()
    return null
  } catch (error) {
    return (error as Error).message
  }
}
