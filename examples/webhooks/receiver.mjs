// Receives the webhooks of Slipway: checks the signature, prints a line for each event, and sends this line to a chat, if there is one.
//   SLIPWAY_WEBHOOK_SECRET  the secret that the create has shown, whsec_…
//   PORT                    where to listen on this machine; default: a free port. The first line is the address
//   CHAT_URL                an incoming webhook of Slack, Mattermost or another chat that takes { "text" }
import { createHmac, timingSafeEqual } from 'node:crypto'
import http from 'node:http'

const { SLIPWAY_WEBHOOK_SECRET: secret = '', PORT: port = '0', CHAT_URL: chatUrl } = process.env
const MAX_BYTES = 1024 * 1024
const MAX_AGE_SECONDS = 300
/** The calls of the last time: Slipway may repeat one. A receiver with several processes keeps them in a database. */
const known = new Set()

/** Whether Slipway has sent this call in the last five minutes. `body` is the text as received. */
export function isGenuine(secret, headers, body) {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const signatures = headers['webhook-signature']
  if (id === undefined || signatures === undefined) return false
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= MAX_AGE_SECONDS)) return false
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest()
  return signatures.split(' ').some((signature) => {
    const given = Buffer.from(signature.replace(/^v1,/, ''), 'base64')
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}

/** One line about an event. Events of deployments, pending requests, targets, instances, freezes and releases have different fields. */
function describe({ type, data }) {
  const source = data.source_name ?? data.solution_name ?? data.sequence_name ?? data.action_name
  const version = data.source_version ?? data.solution_version ?? data.sequence_version ?? data.action_version
  const what = source === undefined ? data.name : [source, version].filter(Boolean).join(' ')
  const where = data.environment_name ? ` in ${data.environment_name}` : ''
  const state = data.state ?? data.status
  return `${type}: ${what ?? data.id}${where}${state ? `, ${state}` : ''}`
}

async function readBody(request) {
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > MAX_BYTES) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const server = http.createServer(async (request, response) => {
  const body = request.method === 'POST' ? await readBody(request) : null
  if (body === null || !isGenuine(secret, request.headers, body)) return response.writeHead(401).end()
  // Answer first: after 15 seconds without an answer, Slipway repeats the call.
  response.writeHead(204).end()
  const id = request.headers['webhook-id']
  if (known.has(id)) return
  known.add(id)
  const text = describe(JSON.parse(body))
  console.log(text)
  if (chatUrl === undefined) return
  await fetch(chatUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text }),
  }).catch((error) => console.error(`the chat did not get "${text}": ${error.message}`))
})

if (!secret.startsWith('whsec_')) {
  console.error('SLIPWAY_WEBHOOK_SECRET is missing: set it to the secret that `slipway webhooks create` has shown')
  process.exit(78)
}
server.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/`))
