import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Answer } from './answer.ts'

/** A request, and the response to it. */
export interface HttpCall<
  Request extends IncomingMessage = IncomingMessage,
  Response extends ServerResponse = ServerResponse,
> {
  request: Request
  response: Response
  method: string
  /** Without the query. */
  path: string
  /** The query, without its question mark. */
  search: string
  /** The values of the parameters of the path. */
  params: Record<string, string>
  /** The path of the route, such as `/api/v1/deployments/{id}`; null if no route matches. */
  route: string | null
  requestId: string
  clientIp: string
  /** More fields for the log line of the request, such as the caller. */
  log: Record<string, unknown>
}

export interface Route<Call = HttpCall> {
  method: string
  /** Such as `/v1/runs/{id}`. A parameter is any segment that is not empty. */
  path: string
  /** Returns the answer, or null if it has written the response itself. */
  handle(call: Call): Promise<Answer | null>
  /** HEAD is not allowed for a stream: it would use up the token. */
  isStream?: boolean
  /** Callers repeat it every few seconds, as monitoring does. It has no limit, no trace, and a log line at `debug` only. */
  isPolled?: boolean
}

interface Path<Call> {
  template: string
  segments: string[]
  methods: Map<string, Route<Call>>
}

export interface RouteMatch<Call> {
  /** The path of the route. */
  template: string
  params: Record<string, string>
  /** Undefined: the path does not allow the method. */
  route: Route<Call> | undefined
  /** The value of the `Allow` header. */
  allow: string
}

/** Returns a function that finds the route of a request, or null if no route has its path. */
export function routeTable<Call>(
  routes: readonly Route<Call>[],
): (method: string, path: string) => RouteMatch<Call> | null {
  const paths = toPaths(routes)
  return (method, path) => {
    const segments = path.split('/')
    for (const { template, segments: pattern, methods } of paths) {
      const params = matchSegments(pattern, segments)
      if (params !== null)
        return { template, params, route: methods.get(method), allow: [...methods.keys()].join(', ') }
    }
    return null
  }
}

function toPaths<Call>(routes: readonly Route<Call>[]): Path<Call>[] {
  const paths = new Map<string, Path<Call>>()
  for (const route of routes) {
    const { path: template, method, isStream = false } = route
    const path = paths.get(template) ?? { template, segments: template.split('/'), methods: new Map() }
    path.methods.set(method, route)
    if (method === 'GET' && !isStream) path.methods.set('HEAD', route)
    paths.set(template, path)
  }
  return [...paths.values()].sort(bySpecificity)
}

const isParameter = (segment: string) => segment.startsWith('{')

/** Sorts literal segments before parameters: `/deployments/pending` must not match `/deployments/{id}`. */
function bySpecificity(a: { segments: string[] }, b: { segments: string[] }): number {
  for (const [index, segment] of a.segments.entries()) {
    const other = b.segments[index]
    if (other === undefined) break
    const order = Number(isParameter(segment)) - Number(isParameter(other))
    if (order !== 0) return order
  }
  return 0
}

function matchSegments(pattern: string[], segments: string[]): Record<string, string> | null {
  if (pattern.length !== segments.length) return null
  const params: Record<string, string> = {}
  for (const [index, expected] of pattern.entries()) {
    const actual = segments[index] as string
    if (isParameter(expected)) {
      if (actual === '') return null
      params[expected.slice(1, -1)] = decode(actual)
    } else if (expected !== actual) return null
  }
  return params
}

/** Keeps a malformed escape. No record has such an id, so the handler answers 404. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
