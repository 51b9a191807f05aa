import type { InstancePool, Static } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { type InstanceSelector, matchesLabels, poolName } from '@slipway/domain'
import { COMPATIBLE_VERSION } from '@slipway/runtime'
import { findPoolInstances, type PoolInstance } from './pools.sql.ts'

type ShownPool = Static<typeof InstancePool>

/** The instances of a pool: what a pending request shows of it, and why some of them take no runs. */
export interface PoolOutlook {
  pool: Omit<ShownPool, 'position'>
  idle: IdleInstances
}

/** How many instances take no runs, by reason. */
export interface IdleInstances {
  lost: number
  draining: number
  refusing: number
  foreign: number
}

export type ReadPool = (selector: InstanceSelector, tenantId: string | null) => PoolOutlook

export async function readPools(db: Queryable): Promise<ReadPool> {
  const instances = await findPoolInstances.all(db, { version: COMPATIBLE_VERSION })
  const known = new Map<string, PoolOutlook>()
  return (selector, tenantId) => {
    const key = `${tenantId} ${JSON.stringify(selector)}`
    const outlook = known.get(key) ?? outlookOf(selector, servingTenant(instances, tenantId))
    known.set(key, outlook)
    return outlook
  }
}

const servingTenant = (instances: readonly PoolInstance[], tenantId: string | null) =>
  instances.filter(({ tenant_id }) => tenant_id === null || tenant_id === tenantId)

function outlookOf(selector: InstanceSelector, instances: readonly PoolInstance[]): PoolOutlook {
  const matching = instances.filter(({ labels }) => matchesLabels(selector, labels))
  const compatible = matching.filter((one) => one.compatible)
  const living = compatible.filter((one) => one.living)
  const staying = living.filter(({ draining }) => !draining)
  const accepting = staying.filter(({ accepts_runs }) => accepts_runs)
  return {
    pool: {
      name: poolName(selector),
      selector,
      known: instances.length,
      matching: matching.length,
      accepting: accepting.length,
      slots: accepting.reduce((total, { slots }) => total + slots, 0),
      taken: accepting.reduce((total, { taken }) => total + taken, 0),
    },
    idle: {
      foreign: matching.length - compatible.length,
      lost: compatible.length - living.length,
      draining: living.length - staying.length,
      refusing: staying.length - accepting.length,
    },
  }
}
