import type { EventBody } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { findCommonestFailure } from './deployments.sql.ts'

/**
 * Explains in one sentence why a deployment failed. If commands failed on several targets, the sentence names the most
 * frequent kind of failure. Otherwise it is the message of the instance.
 */
export async function failureOf(
  tx: Queryable,
  { deployment_id, reason, error_message: told }: EventBody<'run.finished'>,
): Promise<string> {
  // A timeout kills commands, for example. Such failures are an effect, not the cause.
  if (told !== null && (reason ?? 'command_failed') !== 'command_failed') return told
  const found = await findCommonestFailure.first(tx, { deployment_id })
  if (!found) return told ?? 'No command was completed'
  const { failures, targets, alike, error, place } = found
  if (targets > 1) return `${alike} of ${failures} failures: ${error ?? 'no reason is known'}; the first was ${place}`
  return told ?? `${place} failed${error === null ? '' : `: ${error}`}`
}
