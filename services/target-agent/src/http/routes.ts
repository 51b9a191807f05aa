import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  AGENT_COMMAND_LIMIT,
  AGENT_OUTPUT_LIMIT,
  type AgentAccepted,
  AgentCommand,
  AgentEnd,
  type AgentRefusal,
  compile,
  type Static,
  type TSchema,
} from '@slipway/contracts'
import { type Logger, SLIPWAY_VERSION, SpanKind, traced } from '@slipway/runtime'
import type { Commands } from '../commands/commands.ts'
import type { ContentStore } from '../content/content-store.ts'
import { Refusal } from '../content/refusal.ts'

/** How long a call for output waits for output. It is short, so the instance notices a lost connection. */
const WAIT_MS = 10_000

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void

interface RouteOptions {
  commands: Commands
  content: ContentStore
  orphanedAfterMs: number
  logger: Logger
}

type Route = (request: IncomingMessage, response: ServerResponse, name: string, query: URLSearchParams) => Promise<void>

/** The routes for instances. The TLS handshake has authenticated the caller. */
export function createRoutes({ commands, content, orphanedAfterMs, logger }: RouteOptions): RequestHandler {
  const commandOf = bodyReader(AgentCommand, AGENT_COMMAND_LIMIT)
  const endOf = bodyReader(AgentEnd, 1_024)
  // A call that waits must end before the command counts as orphaned.
  const waitMs = Math.min(WAIT_MS, orphanedAfterMs / 3)

  const routes: [method: string, path: RegExp, route: Route][] = [
    [
      'PUT',
      /^\/v1\/content\/([0-9a-f]{64})$/,
      async (request, response, id) => {
        const length = Number(request.headers['content-length'] ?? Number.NaN)
        if (!Number.isSafeInteger(length))
          throw new Refusal('INVALID', 'Content-Length is missing: send the size of the content in this header')
        await content.put(id, length, request)
        response.writeHead(204).end()
      },
    ],
    [
      'PUT',
      /^\/v1\/commands\/([0-9a-z.-]{1,120})$/,
      async (request, response, id) => {
        const command = await commandOf(request)
        const parent = String(request.headers['traceparent'])
        const outcome = await traced('accept command', { kind: SpanKind.SERVER, parent }, () =>
          commands.start(id, command),
        )
        const body: AgentAccepted = { version: SLIPWAY_VERSION, orphaned_after_seconds: orphanedAfterMs / 1_000 }
        answerJson(response, outcome === 'started' ? 201 : 200, body)
      },
    ],
    [
      'GET',
      /^\/v1\/commands\/([0-9a-z.-]{1,120})\/output$/,
      async (_request, response, id, query) => {
        const from = Number(/^\d{1,15}$/.exec(query.get('from') ?? '')?.[0] ?? Number.NaN)
        if (Number.isNaN(from)) throw new Refusal('INVALID', 'query/from must be a number from 0')
        const command = commands.find(id)
        command.noteCall()
        await command.spool?.acknowledge(from)
        await command.spool?.waitForFrames(from, waitMs)
        command.noteCall()
        const bytes = await command.spool?.read(from, AGENT_OUTPUT_LIMIT)
        if (!bytes) throw new Refusal('NOT_FOUND', `There is no output from the offset ${from} on`)
        response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes.length })
        response.end(bytes)
      },
    ],
    [
      'GET',
      /^\/v1\/commands\/([0-9a-z.-]{1,120})$/,
      async (_request, response, id) => {
        commands.find(id).noteCall()
        response.writeHead(204).end()
      },
    ],
    [
      'POST',
      /^\/v1\/commands\/([0-9a-z.-]{1,120})\/end$/,
      async (request, response, id) => {
        const { grace_ms } = await endOf(request)
        commands.end(id, grace_ms)
        response.writeHead(202).end()
      },
    ],
    [
      'DELETE',
      /^\/v1\/commands\/([0-9a-z.-]{1,120})$/,
      async (_request, response, id) => {
        await commands.forget(id)
        response.writeHead(204).end()
      },
    ],
  ]

  return (request, response) => {
    const [pathname = '', query] = (request.url ?? '').split('?', 2)
    const found = routes.find(([method, path]) => method === request.method && path.test(pathname))
    const name = found?.[1].exec(pathname)?.[1] ?? ''
    const work = found
      ? found[2](request, response, name, new URLSearchParams(query))
      : Promise.reject(new Refusal('NOT_FOUND', 'There is no such path'))
    work.catch((error: unknown) => refuse(request, response, error, logger))
  }
}

function refuse(request: IncomingMessage, response: ServerResponse, error: unknown, logger: Logger): void {
  if (request.socket.destroyed) return
  const refusal = error instanceof Refusal ? error : null
  if (!refusal) logger.error('a call of an instance failed', { error })
  else if (refusal.code !== 'MISSING_CONTENT') {
    logger.warn('a call of an instance was refused', { code: refusal.code, reason: refusal.message })
  }
  if (response.headersSent) return void response.destroy()
  // Do not wait for the rest of an unread body.
  if (!request.complete) response.setHeader('connection', 'close')
  const { code, message, missing } = refusal ?? {
    code: 'DISK' as const,
    message: 'The call failed on the target: see the log of the agent',
  }
  const body: AgentRefusal = { error: { code, message, ...(missing === undefined ? {} : { missing }) } }
  answerJson(response, refusal?.status ?? 500, body)
}

function answerJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  response.end(text)
}

/** Reads bodies of this schema. A body may hold secrets, so an error names the path of the problem and no value. */
function bodyReader<T extends TSchema>(schema: T, limit: number): (request: IncomingMessage) => Promise<Static<T>> {
  const problemsOf = compile(schema)
  return async (request) => {
    const pieces: Buffer[] = []
    let size = 0
    for await (const piece of request as AsyncIterable<Buffer>) {
      size += piece.length
      if (size > limit) throw new Refusal('INVALID', `The body has more than ${limit} bytes`)
      pieces.push(piece)
    }
    const value = parse(Buffer.concat(pieces).toString('utf8'))
    const [problem] = problemsOf(value)
    if (problem) throw new Refusal('INVALID', `${problem.path} ${problem.message}`.slice(0, 500))
    return value as Static<T>
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Refusal('INVALID', 'The body is not valid JSON')
  }
}
