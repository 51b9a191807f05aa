// A closed loop of HTTP clients, each from loopback addresses of its own: the limits count by address.
import http from 'node:http'

/** Taken in turn by a client, so that a fast answer does not bring it to the limit of 100 requests a second. */
const ADDRESSES_EACH = 8

const newAgent = (n) =>
  new http.Agent({ keepAlive: true, maxSockets: 1, localAddress: `127.9.${Math.floor(n / 250)}.${(n % 250) + 1}` })

function send(agent, url, { method = 'GET', token, body }) {
  return new Promise((resolve, reject) => {
    const headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    }
    const request = http.request(url, { method, agent, headers }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode))
      response.on('error', reject)
    })
    request.on('error', reject)
    request.end(body)
  })
}

/**
 * Sends requests for `seconds` with `clients` at a time. Returns how many were answered a second and the milliseconds of
 * each. Any status but `expect` ends the measurement: a refusal is faster than work.
 */
export async function drive(url, { clients, seconds, expect, ...request }) {
  const times = []
  // New ones each time: a connection that idled since the last round may be closed under the first request.
  const agents = Array.from({ length: clients * ADDRESSES_EACH }, (_, n) => newAgent(n))
  const started = performance.now()
  const until = started + seconds * 1_000
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let turn = 0; performance.now() < until; turn += 1) {
        const agent = agents[client * ADDRESSES_EACH + (turn % ADDRESSES_EACH)]
        const at = performance.now()
        const status = await send(agent, url, request)
        if (status !== expect) throw new Error(`${request.method ?? 'GET'} ${url} answered ${status}, not ${expect}`)
        times.push(performance.now() - at)
      }
    }),
  )
  for (const agent of agents) agent.destroy()
  return { rate: (times.length / (performance.now() - started)) * 1_000, times }
}
