import type { PartialLines } from '@slipway/contracts'
import type { Bridge } from '../bridge.ts'
import { fenced, invalid } from '../callers/refusal.ts'
import { findDropping, findLiveLease } from '../runs/progress.sql.ts'

const STREAMS = { stdout: { s: 'o', l: 'info' }, stderr: { s: 'e', l: 'error' } } as const

/**
 * Passes unfinished lines of commands on to stream clients. Nothing stores them. While the output of the run is dropped, so are
 * they.
 * @throws Refusal 409 FENCED if the instance no longer holds the lease of that epoch
 */
export async function passOnPartialLines(
  bridge: Bridge,
  instanceId: string,
  deploymentId: string,
  { epoch, lines }: PartialLines,
): Promise<void> {
  const key = { deployment_id: deploymentId, epoch }
  const [run, progress] = await Promise.all([
    findLiveLease.first(bridge.database, { ...key, instance_id: instanceId }),
    findDropping.first(bridge.database, key),
  ])
  if (!run) throw fenced()
  const targets = run.total_steps / run.action_count
  const outside = lines.find(({ target, action }) => target >= targets || action >= run.action_count)
  if (outside) throw invalid(`Target ${outside.target}, action ${outside.action} is outside the plan`)
  if (progress?.dropping) return
  const ahead = progress?.line_offset ?? 0
  await bridge.live.publishPartialLines(
    deploymentId,
    lines.map(({ at, target, action, stream, text, next_line }) => {
      return { t: Date.parse(at), i: target, a: action, ...STREAMS[stream], m: text, n: next_line - ahead }
    }),
  )
}
