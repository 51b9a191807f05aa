import type { CommandBody, Permission } from '@slipway/contracts'
import { insufficientPermissions, notFound } from '@slipway/domain'

/**
 * Whether a caller may change a record of this tenant. Other tenants' records look as if they did not exist; shared
 * ones a caller that is bound to a tenant may use, not change.
 * @throws Problem NOT_FOUND, INSUFFICIENT_PERMISSIONS
 */
export function checkMayChange(
  caller: CommandBody<'pending.cancel'>['caller'],
  tenantId: string | null,
  what: string,
  permission: Permission = 'deployments:cancel',
): void {
  if (caller.tenant_id === null || caller.tenant_id === tenantId) return
  if (tenantId !== null) throw notFound(what)
  throw insufficientPermissions(`${permission} for records that all tenants share`)
}
