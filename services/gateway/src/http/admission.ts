import type { IncomingHttpHeaders } from 'node:http'
import type { OperationId } from '@slipway/contracts'
import type { JsonBody } from '@slipway/http'
import type { CallingUser } from '../callers/calling-user.ts'
import { permit } from '../callers/permission.ts'
import type { JsonHandler } from '../handler.ts'
import { validate } from './validation.ts'

interface Given {
  search: string
  headers: IncomingHttpHeaders
  body: JsonBody
}

/**
 * Authorizes and validates a call. Returns its query.
 * @throws Problem for every refusal
 */
export function admit(
  id: OperationId,
  { authorize, check }: Pick<JsonHandler<OperationId>, 'authorize' | 'check'>,
  caller: CallingUser | null,
  given: Given,
): Record<string, string> {
  if (caller !== null) {
    permit(caller, id)
    authorize?.(caller, given.body.value)
  }
  return validate(id, given, check)
}
