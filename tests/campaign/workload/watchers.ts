import { setTimeout as sleep } from 'node:timers/promises'
import { uptime } from '../clock.ts'
import type { Random } from '../random.ts'
import type { Client } from './client.ts'

/** A ping comes every 15 s. A client that hears nothing for longer opens the stream again. */
const SILENCE_MS = 20_000

const FINAL = new Set(['success', 'failed', 'cancelled', 'rolled_back'])

export interface Watch {
  deployment: string
  /** Whether the client saw the final state. */
  hasEnded: boolean
  done: Promise<void>
}

/** Follows the log of a deployment to its end, over as many connections as it takes. */
export function watchOne(client: Client, deployment: string, random: Random, isOver: () => boolean): Watch {
  const watch: Watch = { deployment, hasEnded: false, done: Promise.resolve() }
  let next = 0
  const note = (event: 'line' | 'state' | 'progress' | 'end', seq: number | null, text: string) =>
    client.ledger.add({ type: 'seen', deployment, at: uptime(), event, seq, text })

  const read = async (response: Response, heard: () => void) => {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      heard()
      rest += decoder.decode(chunk, { stream: true })
      const frames = rest.split('\n\n')
      rest = frames.pop() ?? ''
      for (const frame of frames) {
        const { event, data } = JSON.parse(frame.slice('data: '.length))
        if (event === 'log' && !data.log.metadata.partial) {
          const { seq } = data.log.metadata
          note('line', seq, data.log.message)
          next = seq + 1
        } else if (event === 'progress') note('progress', null, String(data.progress))
        else if (event === 'state_change') {
          note('state', data.log_lines ?? null, data.new_state)
          if (FINAL.has(data.new_state)) watch.hasEnded = true
        }
      }
    }
  }

  const follow = async () => {
    while (!watch.hasEnded && !isOver()) {
      const gateway = random.integer(0, 1)
      const { status, body } = await client.call('token', 'POST', '/auth/sse-token', { body: {}, gateway })
      if (status === 200) {
        const ender = new AbortController()
        let heardAt = uptime()
        const isDead = () => isOver() || uptime() > heardAt + SILENCE_MS
        const watchdog = setInterval(() => isDead() && ender.abort(), 500)
        const path = `/deployments/${deployment}/logs?sse_token=${body.sse_token}&from=${next}`
        const response = await client.stream(path, gateway, ender.signal)
        // Broken connections are expected. The client opens the stream again.
        if (response !== null) await read(response, () => (heardAt = uptime())).catch(() => {})
        clearInterval(watchdog)
        note('end', null, '')
      }
      if (!watch.hasEnded) await sleep(random.integer(100, 800))
    }
  }
  watch.done = follow()
  return watch
}
