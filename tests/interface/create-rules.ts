import { expect } from '@jest/globals'
import {
  type Answer,
  type Api,
  createAction,
  createLocalTarget,
  deploymentEnd,
  loginToSuite,
  type Suite,
  startSuite,
} from '@slipway/testing'

// Shared parts of the tests of all rules of "Create deployment" and "Redeploy". They use the API as a client that knows
// only its documentation.

export type Body = Record<string, unknown>

export const UNKNOWN = '0193b0f0-0000-7000-8000-000000000001'

export let suite: Suite
export let api: Api
export let action_id: string
export let target: { id: string; sqid: string; name: string }
export let environment_id: string
/** An ended deployment for redeploys. */
export let original: string

export async function start(): Promise<void> {
  suite = await startSuite({ capacity: 100 })
  api = await loginToSuite(suite)
  action_id = await createAction(api, { variables: [{ name: 'level', type: 'number' }] })
  target = (await api.get(`/targets/${await createLocalTarget(api, { tags: [{ key: 'role', value: 'web' }] })}`)).body
  environment_id = (await api.post('/environments', { name: 'anywhere' })).body.id
  const first = await api.post('/deployments', { action_id, target_ids: [target.id] })
  original = first.body.deployment_id
  await deploymentEnd(api, original)
}

export const stop = () => suite?.stop()

export const valid = (): Body => ({ action_id, target_ids: [target.id] })
export const refusalOf = ({ status, body }: Answer<{ error?: { code: string; details?: unknown } }>) => ({
  status,
  code: body.error?.code,
  details: body.error?.details,
})
export const pathsOf = ({ details }: { details?: unknown }) =>
  ((details as { errors?: { path: string }[] } | undefined)?.errors ?? []).map(({ path }) => path).sort()

/** The refusal of a body. Create, a dry run and a preview must refuse it in the same way. */
export async function refused(body: unknown) {
  const answers = await Promise.all([
    api.post('/deployments', body),
    api.post('/deployments/preview', body),
    ...(typeof body === 'object' && body !== null && !Array.isArray(body) && !('dry_run' in body)
      ? [api.post('/deployments', { ...body, dry_run: true })]
      : []),
  ])
  const [first, ...others] = answers.map(refusalOf)
  for (const other of others) expect(other).toEqual(first)
  if (first === undefined) throw new Error('no answer')
  return first
}

/** Expects 400 VALIDATION_ERROR at exactly these paths. */
export async function invalid(body: unknown, ...paths: string[]) {
  const refusal = await refused(body)
  expect({ body, status: refusal.status, code: refusal.code, paths: pathsOf(refusal) }).toEqual({
    body,
    status: 400,
    code: 'VALIDATION_ERROR',
    paths: [...paths].sort(),
  })
}

export async function accepted(body: Body) {
  const { status, body: preview } = await api.post('/deployments/preview', body)
  expect({ body, status, error: preview.error }).toEqual({ body, status: 200, error: undefined })
  return preview
}
