import type { CommandBody, CommandReply } from '@slipway/contracts'
import {
  type Database,
  enqueue,
  eventMessage,
  isPast,
  type Queryable,
  type ReceivedCommand,
  type RowOf,
} from '@slipway/database'
import { recordCall, unlessRefused, wasCarriedOut } from '@slipway/database/audit'
import { conflict, insufficientPermissions, notFound } from '@slipway/domain'
import * as sql from './instances.sql.ts'

type Caller = CommandBody<'instance.delete'>['caller']
type Administered = CommandReply<'instance.update'>

/**
 * Drains an instance or ends the draining, and sets its labels. After the answer, a draining instance gets no more runs.
 * Returns null without any effect if the deadline is over or the command was refused before.
 * @throws Problem NOT_FOUND, INSUFFICIENT_PERMISSIONS
 */
export function changeInstance(
  database: Database,
  { instance_id, caller, draining, labels }: CommandBody<'instance.update'>,
  received: ReceivedCommand,
): Promise<Administered | null> {
  return administer(database, { instance_id, caller, action: 'instance.update', ...received }, async (tx, before) => {
    const after = { draining: draining ?? before.draining, labels: labels ?? before.labels }
    await sql.changeInstance.run(tx, { id: instance_id, ...after })
    await sql.lockSlots.run(tx, { id: instance_id })
    await enqueue(tx, [eventMessage('instance.updated', { instance_id, tenant_id: before.tenant_id })])
    return { from: { draining: before.draining, labels: before.labels }, to: after }
  })
}

/**
 * Removes an instance: its credentials are invalid at once, and its name is free for a new join. The row stays, because leases
 * refer to it.
 *
 * If the instance still ran deployments, its leases end like those of a lost instance, 30 seconds after its last heartbeat. Not
 * earlier: until then its commands may still run.
 * @throws Problem NOT_FOUND, INSUFFICIENT_PERMISSIONS, CONFLICT
 */
export function removeInstance(
  database: Database,
  { instance_id, caller, force = false }: CommandBody<'instance.delete'>,
  received: ReceivedCommand,
): Promise<Administered | null> {
  return administer(database, { instance_id, caller, action: 'instance.delete', ...received }, async (tx, before) => {
    const { name, tenant_id, active, heard } = before
    if (!force && active > 0) {
      throw conflict('The instance runs deployments: drain it first, or remove it with force=true', { active })
    }
    if (!force && heard) throw conflict('The instance is online: stop it first, or remove it with force=true')
    await sql.removeInstance.run(tx, { id: instance_id })
    await sql.lockSlots.run(tx, { id: instance_id })
    await enqueue(tx, [eventMessage('instance.deleted', { instance_id, tenant_id })])
    return { name, force, active }
  })
}

type InstanceRow = RowOf<typeof sql.lockInstance>

interface Order extends ReceivedCommand {
  instance_id: string
  caller: Caller
  action: 'instance.update' | 'instance.delete'
}

/** Runs the work on the locked instance in one transaction with the audit record. The work returns the details of the record. */
function administer(
  database: Database,
  { instance_id, caller, action, command_id, deadline, request_id, api_key }: Order,
  work: (tx: Queryable, before: InstanceRow) => Promise<Record<string, unknown>>,
): Promise<Administered | null> {
  const done = database.transaction(async (tx) => {
    if (await isPast(tx, deadline)) return null
    // The gateway has checked this too, but a command message is no proof.
    if (caller.tenant_id !== null) throw insufficientPermissions('instances:update, bound to no tenant')
    const before = await sql.lockInstance.first(tx, { id: instance_id })
    if (await wasCarriedOut(tx, command_id)) return { instance_id }
    if (!before) throw notFound('The instance')
    const details = await work(tx, before)
    await recordCall(tx, {
      command_id,
      action,
      caller,
      api_key,
      request_id,
      details,
      resource_id: instance_id,
      tenant_id: null,
    })
    return { instance_id }
  })
  return unlessRefused(done)
}
