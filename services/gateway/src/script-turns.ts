import { FairSemaphore } from '@slipway/runtime'
import type { ScriptReader } from '@slipway/scripts'

/** Reads the scripts of a tenant; null: of users without tenant. */
export interface TenantScripts {
  of(tenant_id: string | null): Pick<ScriptReader, 'read'>
}

/** One thread reads all scripts, each for up to a second. */
const READING = { limit: 1, perKey: 1, maxWaiting: 50 }

/** Tenants take turns at the reader. */
export function inTurns(reader: Pick<ScriptReader, 'read'>): TenantScripts {
  const reading = new FairSemaphore(READING)
  return {
    of: (tenant_id) => ({
      read: (script, interpreter) => reading.run(tenant_id ?? '', () => reader.read(script, interpreter)),
    }),
  }
}
