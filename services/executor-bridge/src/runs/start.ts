import type { RunRef, RunSpec, SyncResponse } from '@slipway/contracts'
import { Problem } from '@slipway/domain'
import { forRequest, SecretError, SpanKind, traced, withContext } from '@slipway/runtime'
import type { Bridge } from '../bridge.ts'
import { type LoadedRun, loadRuns } from './load.ts'
import { startedRuns } from './metrics.ts'
import { endUnstartedRun } from './progress.ts'
import { buildSpec, CannotRun } from './spec.ts'

/** A run with more steps is fetched by a separate call, so that answers to a sync stay small. */
const INLINE_STEPS = 100
/** No further run is added to an answer of this size, in characters; the next sync gets the rest. */
const ENOUGH = 8 * 1024 * 1024

interface RunToStart extends RunRef {
  total_steps: number
}

/** The runs that the instance is to start. A run that can never start ends as failed. */
export async function startsOf(
  bridge: Bridge,
  instanceId: string,
  missing: readonly RunToStart[],
): Promise<SyncResponse['start']> {
  if (missing.length === 0) return []
  const large = missing.filter(({ total_steps }) => total_steps > INLINE_STEPS)
  const small = missing.filter(({ total_steps }) => total_steps <= INLINE_STEPS)
  const loaded = small.length === 0 ? [] : await loadRuns(bridge.database, instanceId, small)
  const starts: SyncResponse['start'] = large.map(({ deployment_id, epoch }) => ({ deployment_id, epoch, spec: null }))
  let size = 0
  for (const run of loaded) {
    if (size > ENOUGH) break
    const spec = run && (await specOf(bridge, run))
    if (!spec) continue
    size += JSON.stringify(spec).length
    starts.push({ deployment_id: spec.deployment_id, epoch: spec.epoch, spec })
  }
  return starts
}

/**
 * The specification of one run, for the instance that holds its lease.
 * @throws Problem NOT_FOUND if the instance holds no such lease, or the run has started or ended
 */
export async function fetchSpec(bridge: Bridge, instanceId: string, run: RunRef): Promise<RunSpec> {
  const [loaded] = await loadRuns(bridge.database, instanceId, [run])
  const spec = loaded && (await specOf(bridge, loaded))
  if (!spec) throw new Problem('NOT_FOUND', 'The instance has no such run to start')
  return spec
}

/** Null if there is nothing to start. The specification contains secrets: never log it. */
function specOf(bridge: Bridge, { run, records }: LoadedRun): Promise<RunSpec | null> {
  const { deployment_id, epoch, instance_id } = run
  return forRequest(run, () =>
    withContext({ deployment_id, epoch }, async () => {
      if (run.started || run.finished) return null
      try {
        const spec = traced('start run', { kind: SpanKind.INTERNAL }, () => buildSpec(bridge.keys, run, records))
        startedRuns.inc({ outcome: 'sent' })
        bridge.logger.info('a run is sent to its instance', { instance_id })
        return spec
      } catch (error) {
        const reason = permanentReason(error)
        if (reason === null) {
          // One bad run must not stop the start of the others. The next sync retries it.
          startedRuns.inc({ outcome: 'failed' })
          bridge.logger.error('a run cannot be sent to its instance now', { instance_id, error })
          return null
        }
        startedRuns.inc({ outcome: 'refused' })
        bridge.logger.error('a run cannot start; it ends failed', { instance_id, reason })
        await endUnstartedRun(bridge, { deploymentId: deployment_id, epoch, instanceId: instance_id }, reason)
        return null
      }
    }),
  )
}

function permanentReason(error: unknown): string | null {
  if (error instanceof CannotRun) return error.message
  if (error instanceof SecretError) return `A secret of the deployment cannot be opened: ${error.message}`
  return null
}
