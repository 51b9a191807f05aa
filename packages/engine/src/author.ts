import { accessProblem, dependsOnScope, may, Problem, type TouchedByDeployment } from '@slipway/domain'
import type { Request, StartRequest } from './snapshot.ts'

/** What a request touches: the environments that it names and those of its targets, and its source. */
export function touchedBy({ subject, terms: { source } }: StartRequest): TouchedByDeployment {
  const ids = [subject.environment_id, ...subject.targets.map(({ environment_id }) => environment_id)]
  const environment_ids = [...new Set(ids.filter((id) => id !== null))]
  return { kind: 'deployment', environment_ids, source: { type: source.type, id: source.id } }
}

/** Whether the environments of the targets decide if the author may start the request. */
export const hasScopedAuthor = (request: Request): boolean =>
  request.kind === 'start' && request.author !== null && request.author !== 'checked' && dependsOnScope(request.author)

/** The refusal of a new request whose author may not start it; null if the author may. */
export function authorProblem(request: StartRequest): Problem | null {
  const { author } = request
  if (author === 'checked') return null
  if (author === null) return new Problem('FORBIDDEN', 'The account is not active, or its API key was revoked')
  return accessProblem(author, 'deployments:create', touchedBy(request))
}

/** Why the author of a waiting request may not start it any more; null if the author may. */
export function withdrawnRight(request: StartRequest): string | null {
  const why = withdrawn(request.author, request)
  return why === null ? null : `${why}: ask for the deployment again as a user who may`
}

function withdrawn(author: StartRequest['author'], request: StartRequest): string | null {
  if (author === 'checked') return null
  if (author === null) return 'The user who asked for it is not active, or the API key was revoked'
  const verdict = may(author, 'deployments:create', touchedBy(request))
  if (!verdict.allowed) {
    const isKey = verdict.why === 'key_scopes' || verdict.why === 'key_limited'
    return `The ${isKey ? 'API key with which it was asked for' : 'user who asked for it'} may not deploy this any more`
  }
  const overrides = request.terms.overrides_rules || request.subject.override
  if (overrides && !may(author, 'deployments:override').allowed)
    return 'The user who asked for it may not override freezes and rules any more'
  return null
}
