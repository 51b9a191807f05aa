import { OPERATIONS, type Operation, type OperationId } from '@slipway/contracts'
import { PERMISSIONS, Problem, requireMay } from '@slipway/domain'
import type { CallingUser } from './calling-user.ts'

/**
 * All tenants share the roles and the audit chain, so only users without tenant change roles and tenants and check the chain.
 */
const NOT_FOR_TENANTS = new Set<OperationId>([
  'createTenant',
  'createRole',
  'updateRole',
  'deleteRole',
  'checkAuditChain',
])

/**
 * A leaked credential of a program must not create others or take its account over.
 * @throws Problem FORBIDDEN
 */
export function requirePerson({ credential, kind }: CallingUser): void {
  if (credential.kind === 'api_key') throw new Problem('FORBIDDEN', 'An API key may not do this: log in as a user')
  if (kind === 'service') throw new Problem('FORBIDDEN', 'A service account may not do this: log in as a person')
}

/** @throws Problem INSUFFICIENT_PERMISSIONS, FORBIDDEN */
export function permit(caller: CallingUser, id: OperationId): void {
  const { access, loginOnly }: Operation = OPERATIONS[id]
  const permission = PERMISSIONS.find((each) => each === access)
  if (permission !== undefined) requireMay(caller, permission)
  if (loginOnly) requirePerson(caller)
  if (NOT_FOR_TENANTS.has(id) && caller.tenant_id !== null) {
    throw new Problem('FORBIDDEN', 'Only users without tenant may do this')
  }
}
