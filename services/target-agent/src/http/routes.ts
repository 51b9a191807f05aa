import {
  AGENT_COMMAND_LIMIT,
  AGENT_OUTPUT_LIMIT,
  type AgentAccepted,
  AgentCommand,
  AgentEnd,
  MAX_CONTENT_BYTES,
} from '@slipway/contracts'
import { bytesOf, jsonReader, type Route } from '@slipway/http'
import { SLIPWAY_VERSION } from '@slipway/runtime'
import type { Commands } from '../commands/commands.ts'
import type { ContentStore } from '../content/content-store.ts'
import { Refusal } from '../content/refusal.ts'

/** How long a call for output waits for output. It is short, so the instance notices a lost connection. */
const WAIT_MS = 10_000
const CONTENT_ID = /^[0-9a-f]{64}$/
const COMMAND_ID = /^[0-9a-z.-]{1,120}$/

export interface AgentRoutesOptions {
  commands: Commands
  content: ContentStore
  orphanedAfterMs: number
}

export function createRoutes({ commands, content, orphanedAfterMs }: AgentRoutesOptions): Route[] {
  const readCommand = jsonReader(AgentCommand, { bytes: AGENT_COMMAND_LIMIT })
  const readEnd = jsonReader(AgentEnd, { bytes: 1_024 })
  // A call that waits must end before the command counts as orphaned.
  const waitMs = Math.min(WAIT_MS, orphanedAfterMs / 3)

  return [
    {
      method: 'PUT',
      path: '/v1/content/{id}',
      async handle({ request, params }) {
        const length = Number(request.headers['content-length'] ?? Number.NaN)
        if (!Number.isSafeInteger(length))
          throw new Refusal('INVALID', 'Content-Length is missing: send the size of the content in this header')
        await content.put(idOf(params, CONTENT_ID), length, bytesOf(request, MAX_CONTENT_BYTES))
        return { status: 204 }
      },
    },
    {
      method: 'PUT',
      path: '/v1/commands/{id}',
      async handle({ request, params }) {
        const id = idOf(params, COMMAND_ID)
        const outcome = await commands.start(id, await readCommand(request))
        const body: AgentAccepted = { version: SLIPWAY_VERSION, orphaned_after_seconds: orphanedAfterMs / 1_000 }
        return { status: outcome === 'started' ? 201 : 200, body }
      },
    },
    {
      method: 'GET',
      path: '/v1/commands/{id}/output',
      isPolled: true,
      async handle({ params, search }) {
        const offset = new URLSearchParams(search).get('from') ?? ''
        if (!/^\d{1,15}$/.test(offset)) throw new Refusal('INVALID', 'query/from must be a number from 0')
        const from = Number(offset)
        const command = commands.find(idOf(params, COMMAND_ID))
        command.noteCall()
        await command.spool?.acknowledge(from)
        await command.spool?.waitForFrames(from, waitMs)
        command.noteCall()
        const bytes = await command.spool?.read(from, AGENT_OUTPUT_LIMIT)
        if (!bytes) throw new Refusal('NOT_FOUND', `There is no output from the offset ${from} on`)
        return { status: 200, bytes: [bytes], length: bytes.length }
      },
    },
    {
      method: 'GET',
      path: '/v1/commands/{id}',
      isPolled: true,
      async handle({ params }) {
        commands.find(idOf(params, COMMAND_ID)).noteCall()
        return { status: 204 }
      },
    },
    {
      method: 'POST',
      path: '/v1/commands/{id}/end',
      async handle({ request, params }) {
        const id = idOf(params, COMMAND_ID)
        const { grace_ms } = await readEnd(request)
        commands.end(id, grace_ms)
        return { status: 202 }
      },
    },
    {
      method: 'DELETE',
      path: '/v1/commands/{id}',
      async handle({ params }) {
        await commands.forget(idOf(params, COMMAND_ID))
        return { status: 204 }
      },
    },
  ]
}

/** The id in the path. It becomes the name of a folder or file, so it has nothing but these characters. */
function idOf({ id = '' }: Record<string, string>, form: RegExp): string {
  if (!form.test(id)) throw new Refusal('NOT_FOUND', 'There is no such path')
  return id
}
