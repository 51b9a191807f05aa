// An orchestration instance that takes every run and executes none, so that creating is measured and not executing.

import { randomBytes } from 'node:crypto'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export async function enrolIdleInstance(bridgeUrl, enrolmentToken, capacity) {
  /** By deployment: one that was a while on its way comes twice. */
  const runs = new Map()
  const server = http.createServer((request, response) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString() || '{}')
      if (request.url === '/v1/runs') runs.set(body.deployment_id, body.epoch)
      response.writeHead(202, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const call = async (path, token, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(bridgeUrl + path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
    return response.json()
  }
  const version = '0.1.0'
  const { instance_id, credential } = await call('/v1/instances', enrolmentToken, {
    name: 'idle',
    version,
    base_url: `http://127.0.0.1:${server.address().port}`,
    capacity,
    labels: {},
    callback_token: randomBytes(32).toString('hex'),
  })
  const beat = () => {
    // Runs of an earlier round may still come after they were forgotten: no instance has more than its capacity.
    const held = [...runs].slice(-capacity).map(([deployment_id, epoch]) => ({ deployment_id, epoch }))
    return call(`/v1/instances/${instance_id}/heartbeat`, credential, { version, runs: held })
  }
  await beat()
  const timer = setInterval(() => beat().catch((error) => console.error(error.message)), 5_000)
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
    stop() {
      clearInterval(timer)
      server.closeAllConnections()
      server.close()
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
}

/** A running deployment whose events are ours to send. */
export async function beginRun({ api, instance }, body) {
  const { status, body: answer } = await api.post('/deployments', body)
  if (status !== 201) throw new Error(`create answered ${status}: ${JSON.stringify(answer)}`)
  return { id: answer.deployment_id, epoch: await instance.epochOf(answer.deployment_id) }
}
