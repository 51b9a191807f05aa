import { OPERATIONS, type Operation, type OperationId } from '@slipway/contracts'
import { insufficientPermissions, Problem } from '@slipway/domain'
import type { CallingUser } from './calling-user.ts'

/** Tenants, and roles, which all tenants share, are administered from outside of any. */
const NOT_FOR_TENANTS = new Set<OperationId>(['createTenant', 'createRole', 'updateRole', 'deleteRole'])

/** @throws Problem INSUFFICIENT_PERMISSIONS or FORBIDDEN when the caller may not make this call */
export function permit(caller: CallingUser, id: OperationId): void {
  const { access, loginOnly }: Operation = OPERATIONS[id]
  if (access.includes(':') && !caller.permissions.includes(access)) throw insufficientPermissions(access)
  if (loginOnly && caller.credential.kind === 'api_key') {
    throw new Problem('FORBIDDEN', 'An API key may not do this: log in')
  }
  if (NOT_FOR_TENANTS.has(id) && caller.tenant_id !== null) {
    throw new Problem('FORBIDDEN', 'Only users who are bound to no tenant may do this')
  }
}
