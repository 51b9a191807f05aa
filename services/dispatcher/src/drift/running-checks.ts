/** Each check takes a slot, and deployments need them. */
const MAX_RUNNING = 4
const MAX_OF_TENANT = 2
/** Slow checks of some tenants must not stop the checks of others, so the first check of a tenant has this limit instead. */
const MAX_WITH_FIRST = 16

/**
 * Which tenants may start checks. They take turns: as long as a tenant without a running check has one that is due, no other tenant
 * starts another.
 */
export class RunningChecks {
  readonly #running = new Map<string, number>()
  /** How many checks a tenant has at most that may start another one now. */
  #turn = 0

  constructor(running: readonly { tenant_id: string | null; running: number }[]) {
    for (const { tenant_id, running: count } of running) this.#running.set(tenant_id ?? '', count)
  }

  /** How many checks may start, and the tenants that may start none now. Null: no further check may start. */
  nextPlaces(): { count: number; except: string[] } | null {
    if (this.#turn >= MAX_OF_TENANT) return null
    const count = this.#limit() - this.#total()
    if (count <= 0) return null
    return { count, except: [...this.#running].filter(([, count]) => count > this.#turn).map(([tenant]) => tenant) }
  }

  mayStart(tenantId: string | null): boolean {
    return this.#of(tenantId) <= this.#turn && this.#total() < this.#limit()
  }

  add(tenantId: string | null): void {
    this.#running.set(tenantId ?? '', this.#of(tenantId) + 1)
  }

  nextTurn(): void {
    this.#turn += 1
  }

  #of(tenantId: string | null): number {
    return this.#running.get(tenantId ?? '') ?? 0
  }

  #total(): number {
    return [...this.#running.values()].reduce((sum, count) => sum + count, 0)
  }

  #limit(): number {
    return this.#turn === 0 ? MAX_WITH_FIRST : MAX_RUNNING
  }
}
