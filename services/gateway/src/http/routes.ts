import { OPERATIONS, type Operation, type OperationId } from '@slipway/contracts'

const PREFIX = '/api/v1'

export interface Route {
  /** Such as `/api/v1/deployments/{id}`. */
  pattern: string
  segments: string[]
  operations: Map<string, OperationId>
  /** The value of the `Allow` header. */
  allow: string
}

export interface RouteMatch {
  route: Route
  params: Record<string, string>
}

const isParameter = (segment: string) => segment.startsWith('{')

/** Sorts literal segments before parameters: `/deployments/pending` must not match `/deployments/{id}`. */
function bySpecificity(a: Route, b: Route): number {
  for (const [index, segment] of a.segments.entries()) {
    const other = b.segments[index]
    if (other === undefined) break
    const order = Number(isParameter(segment)) - Number(isParameter(other))
    if (order !== 0) return order
  }
  return 0
}

function buildRoutes(): Route[] {
  const routes = new Map<string, Route>()
  for (const [id, { method, path }] of Object.entries(OPERATIONS) as [OperationId, Operation][]) {
    const pattern = PREFIX + path
    const route = routes.get(pattern) ?? { pattern, segments: pattern.split('/'), operations: new Map(), allow: '' }
    route.operations.set(method, id)
    // No HEAD on a stream: it would use up the token.
    if (method === 'GET' && OPERATIONS[id].access !== 'sse') route.operations.set('HEAD', id)
    route.allow = [...route.operations.keys()].join(', ')
    routes.set(pattern, route)
  }
  return [...routes.values()].sort(bySpecificity)
}

const routes = buildRoutes()

/** Finds the route of a path (without its query), or null. */
export function matchRoute(path: string): RouteMatch | null {
  const segments = path.split('/')
  for (const route of routes) {
    const params = matchSegments(route.segments, segments)
    if (params !== null) return { route, params }
  }
  return null
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
