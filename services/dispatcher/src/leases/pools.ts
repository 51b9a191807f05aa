import type { Queryable, RowOf } from '@slipway/database'
import { type MaybeSelector, matchesLabels } from '@slipway/domain'
import { COMPATIBLE_VERSION } from '@slipway/runtime'
import { lockFreeSlots, type Slot } from './allocate.ts'
import { findInstances, findLabels } from './leases.sql.ts'

type Instance = RowOf<typeof findInstances>

/** The instances that take runs of a tenant, or with null those that serve all, with their labels. */
export class Pools {
  readonly #tenantId: string | null
  readonly #instances: readonly Instance[]

  private constructor(tenantId: string | null, instances: readonly Instance[]) {
    this.#tenantId = tenantId
    this.#instances = instances
  }

  static async read(tx: Queryable, tenantId: string | null): Promise<Pools> {
    const instances = await findInstances.all(tx, { version: COMPATIBLE_VERSION })
    return new Pools(
      tenantId,
      instances.filter(({ tenant_id }) => tenant_id === tenantId),
    )
  }

  /** How many slots are free on the instances that match. */
  countFree(selector: MaybeSelector): number {
    return this.#matching(selector).reduce((free, { capacity, taken }) => free + Math.max(0, capacity - taken), 0)
  }

  /** Locks free slots: up to `count` for each of these selectors. */
  async lockSlots(tx: Queryable, selectors: readonly MaybeSelector[], count: number): Promise<Slot[]> {
    const slots = new Map<string, Slot>()
    for (const selector of distinct(selectors)) {
      const ids = this.#matching(selector).map(({ id }) => id)
      if (ids.length === 0) continue
      // A transaction finds the slots again that it has locked itself.
      for (const slot of await lockFreeSlots(tx, count, this.#tenantId, ids)) {
        slots.set(`${slot.instance_id} ${slot.slot}`, slot)
      }
    }
    return [...slots.values()]
  }

  #matching(selector: MaybeSelector): Instance[] {
    return this.#instances.filter(({ labels }) => matchesLabels(selector, labels))
  }
}

/** Locks free slots on instances of the tenant, or with null on those that serve all: up to `count` for each selector. */
export async function lockMatchingSlots(
  tx: Queryable,
  selectors: readonly MaybeSelector[],
  { count, tenantId }: { count: number; tenantId: string | null },
): Promise<Slot[]> {
  if (selectors.every((selector) => selector === null)) return lockFreeSlots(tx, count, tenantId)
  return (await Pools.read(tx, tenantId)).lockSlots(tx, selectors, count)
}

const distinct = (selectors: readonly MaybeSelector[]): MaybeSelector[] => [
  ...new Map(selectors.map((selector) => [JSON.stringify(selector), selector])).values(),
]

type Labels = Readonly<Record<string, string>>

/** Locked slots that are not taken yet. */
export class FreeSlots {
  readonly #slots: Slot[]
  /** By instance. Null if no selector is in use. */
  readonly #labels: ReadonlyMap<string, Labels> | null

  constructor(slots: readonly Slot[], labels: ReadonlyMap<string, Labels> | null = null) {
    this.#slots = [...slots]
    this.#labels = labels
  }

  /**
   * Reads the labels after the slots were locked: a change of labels waits for the lock, so these are the labels until the end of
   * the transaction. Slots that fewer of the selectors accept come first, to leave the others to requests that need them.
   */
  static async withLabels(
    tx: Queryable,
    slots: readonly Slot[],
    selectors: readonly MaybeSelector[] = [],
  ): Promise<FreeSlots> {
    if (slots.length === 0) return new FreeSlots([])
    const rows = await findLabels.all(tx, { ids: [...new Set(slots.map(({ instance_id }) => instance_id))] })
    const labels = new Map(rows.map((row) => [row.id, row.labels]))
    const pools = distinct(selectors)
    const uses = new Map(rows.map((row) => [row.id, pools.filter((one) => matchesLabels(one, row.labels)).length]))
    const usesOf = ({ instance_id }: Slot) => uses.get(instance_id) ?? 0
    return new FreeSlots(
      [...slots].sort((one, other) => usesOf(one) - usesOf(other)),
      labels,
    )
  }

  /** Takes the first slot whose instance matches, and of which `isReserved` is false. */
  take(selector: MaybeSelector, isReserved: (labels: Labels) => boolean = () => false): Slot | undefined {
    const index = this.#slots.findIndex(({ instance_id }) => {
      const labels = this.#labels?.get(instance_id) ?? {}
      return matchesLabels(selector, labels) && !isReserved(labels)
    })
    return index < 0 ? undefined : this.#slots.splice(index, 1)[0]
  }
}
