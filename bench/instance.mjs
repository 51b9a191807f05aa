// An orchestration instance that takes every run and executes none, so that creating is measured and not executing.

import { setTimeout as sleep } from 'node:timers/promises'
import manifest from '../package.json' with { type: 'json' }

export async function joinIdleInstance(bridgeUrl, joinToken, capacity) {
  /** The epoch of each run, by deployment. */
  const runs = new Map()
  const call = async (path, token, body, signal) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(bridgeUrl + path, { method: 'POST', headers, body: JSON.stringify(body), signal })
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
    return response.json()
  }
  const self = { version: manifest.version, capacity, labels: {} }
  const { credential } = await call('/v1/instances', joinToken, { name: 'idle', ...self })
  const stopping = new AbortController()
  const sync = async (wait_seconds) => {
    const held = [...runs].map(([deployment_id, epoch]) => ({ deployment_id, epoch, next_event: null }))
    const nothing = { stopped: [], refused: [], declined: [], probe_slots: 0, probes: [] }
    const request = { ...self, wait_seconds, accepts_runs: true, runs: held, ...nothing }
    const { start, stop } = await call('/v1/sync', credential, request, stopping.signal)
    for (const { deployment_id, epoch } of stop) if (runs.get(deployment_id) === epoch) runs.delete(deployment_id)
    for (const { deployment_id, epoch } of start) runs.set(deployment_id, epoch)
  }
  await sync(0)
  const synced = (async () => {
    while (!stopping.signal.aborted) {
      await sync(5).catch(async (error) => {
        if (stopping.signal.aborted) return
        console.error(error.message)
        await sleep(1_000)
      })
    }
  })()
  return {
    /** The epoch under which it has this run, which may still be on its way. */
    async epochOf(deploymentId) {
      for (;;) {
        const epoch = runs.get(deploymentId)
        if (epoch !== undefined) return epoch
        await sleep(5)
      }
    },
    /** Reports events of a run. */
    send: (deploymentId, batch) => call(`/v1/runs/${deploymentId}/events`, credential, batch),
    forget() {
      runs.clear()
    },
    async stop() {
      stopping.abort()
      await synced
    },
  }
}

/** Ends what was started, so that slots are free and no round pays for the one before. */
export async function settle({ instance, database }) {
  instance.forget()
  await database.query(`UPDATE leases SET ended_at = now(), end_reason = 'bench' WHERE ended_at IS NULL`)
  await database.query(
    `UPDATE deployments SET state = 'success', completed_at = now() WHERE state IN ('running', 'queued')`,
  )
  // The product frees them with the last step, and looks longer at what was left behind.
  await database.query('UPDATE target_locks SET deployment_id = NULL, epoch = NULL WHERE deployment_id IS NOT NULL')
}

/** A running deployment whose events are ours to send. */
export async function beginRun({ api, instance }, body) {
  const { status, body: answer } = await api.post('/deployments', body)
  if (status !== 201) throw new Error(`create answered ${status}: ${JSON.stringify(answer)}`)
  return { id: answer.deployment_id, epoch: await instance.epochOf(answer.deployment_id) }
}
