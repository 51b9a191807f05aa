import { instancesOf, takesRuns } from './pools.ts'
import type { Instance, Request, Reservation, Snapshot, StartRequest, TargetState } from './snapshot.ts'

/** A slot of an instance. */
export interface Slot {
  instance_id: string
  instance_name: string
  slot: number
}

type OpenInstance = Instance & { free: number[] }
type OpenTarget = TargetState & { reservations: Reservation[] }

interface BookedSnapshot extends Snapshot {
  readonly instances: readonly OpenInstance[]
  readonly targets: Map<string, OpenTarget>
  readonly running: Map<string, number>
  readonly runningChecks: Map<string, number>
}

/** What `admit` gives to requests, so that the next request finds it taken. */
export class Bookings {
  /** The facts as they are after all bookings. */
  readonly snapshot: BookedSnapshot
  /** How many of the pools that requests need have this instance. */
  readonly #uses: ReadonlyMap<string, number>

  constructor(snapshot: Snapshot, requests: readonly Request[]) {
    this.snapshot = {
      ...snapshot,
      instances: snapshot.instances.map((instance) => ({ ...instance, free: [...instance.free] })),
      targets: new Map(
        [...snapshot.targets].map(([id, state]) => [id, { ...state, reservations: [...state.reservations] }]),
      ),
      running: new Map(snapshot.running),
      runningChecks: new Map(snapshot.runningChecks),
    }
    this.#uses = countUses(snapshot.instances, requests)
  }

  /** Books everything that a request without blockers needs, and returns its slot. */
  start(request: Request): Slot {
    const { now, tenantLimit, targets, running, runningChecks } = this.snapshot
    if (request.kind === 'check') add(runningChecks, request.tenant_id ?? '')
    if (request.kind === 'start') {
      if (tenantLimit !== null && request.tenant_id !== null) add(running, request.tenant_id)
      const holder = { deployment_id: request.id, tenant_id: request.tenant_id, since: now }
      for (const { id } of request.targets) targets.set(id, { holder, reservations: [] })
    }
    return this.#takeSlot(request)
  }

  /** Keeps later requests from the targets of one that waits for targets or a slot alone. */
  reserve({ id, rank, targets }: StartRequest): void {
    const booked = this.snapshot.targets
    for (const target of targets) {
      const state = booked.get(target.id) ?? { holder: null, reservations: [] }
      state.reservations.push({ request_id: id, rank })
      booked.set(target.id, state)
    }
  }

  /**
   * Instances of the tenant itself come first, to leave the others to all tenants; then those that fewer pools have, to leave the
   * others to these pools; then the least loaded.
   */
  #takeSlot(request: Request): Slot {
    let best: OpenInstance | undefined
    for (const instance of instancesOf(this.snapshot.instances, request)) {
      if (!takesRuns(instance) || instance.free.length === 0) continue
      if (best === undefined || this.#compare(instance, best) < 0) best = instance
    }
    const slot = best?.free.shift()
    if (best === undefined || slot === undefined) throw new Error(`request ${request.id} starts without a free slot`)
    best.taken += 1
    return { instance_id: best.id, instance_name: best.name, slot }
  }

  #compare(one: OpenInstance, other: OpenInstance): number {
    return (
      Number(one.tenant_id === null) - Number(other.tenant_id === null) ||
      (this.#uses.get(one.id) ?? 0) - (this.#uses.get(other.id) ?? 0) ||
      loadOf(one) - loadOf(other) ||
      (one.id < other.id ? -1 : 1)
    )
  }
}

const loadOf = ({ taken, slots }: Instance) => (taken + 1) / slots

const add = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)

/** Empty if no request selects instances. */
function countUses(instances: readonly Instance[], requests: readonly Request[]): Map<string, number> {
  const uses = new Map<string, number>()
  if (requests.every(({ selector }) => selector === null)) return uses
  const pools = new Map(requests.map((request) => [JSON.stringify(request.selector), request.selector]))
  for (const selector of pools.values()) {
    for (const instance of instances) {
      // Not by tenant: a pool is a selector, whoever uses it.
      if (instancesOf([instance], { tenant_id: instance.tenant_id, selector }).length > 0) add(uses, instance.id)
    }
  }
  return uses
}
