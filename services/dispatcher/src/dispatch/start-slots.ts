import type { Queryable } from '@slipway/database'
import type { MaybeSelector } from '@slipway/domain'
import { type Slot, tenantsWithInstances } from '../leases/allocate.ts'
import { lockMatchingSlots } from '../leases/pools.ts'
import type { StartCommand } from './start-commands.ts'

export const tenantOf = ({ command }: StartCommand) => command.plan.tenant?.id ?? null
export const selectorOf = ({ command }: StartCommand): MaybeSelector => command.plan.instance_selector ?? null

export interface StartSlots {
  /** Slots of instances that serve all tenants. */
  slots: readonly Slot[]
  /** Slots of instances that serve one tenant, by tenant. */
  ownSlots: ReadonlyMap<string, readonly Slot[]>
}

/** Locks enough slots for all starts: on instances that match their selectors, and for tenants on their own instances, too. */
export async function lockStartSlots(tx: Queryable, starts: readonly StartCommand[]): Promise<StartSlots> {
  const [slots, ownSlots] = await Promise.all([lockSlots(tx, starts, null), lockOwnSlots(tx, starts)])
  return { slots, ownSlots }
}

/** Free slots of the tenants' own instances. */
async function lockOwnSlots(tx: Queryable, starts: readonly StartCommand[]): Promise<Map<string, Slot[]>> {
  if (starts.every((start) => tenantOf(start) === null)) return new Map()
  const owners = (await tenantsWithInstances(tx)).filter((owner) => starts.some((start) => tenantOf(start) === owner))
  const startsOf = (owner: string) => starts.filter((start) => tenantOf(start) === owner)
  return new Map(
    await Promise.all(
      owners.map(async (owner): Promise<[string, Slot[]]> => [owner, await lockSlots(tx, startsOf(owner), owner)]),
    ),
  )
}

/** As many for each selector as there are starts, so that starts with other selectors leave enough. */
const lockSlots = (tx: Queryable, starts: readonly StartCommand[], tenantId: string | null): Promise<Slot[]> =>
  lockMatchingSlots(tx, starts.map(selectorOf), { count: starts.length, tenantId })
