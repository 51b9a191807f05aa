import { AccessEndedError, RefusedError, UnreachableError, UsageError } from '../exit-code.ts'
import type { Io } from '../io.ts'

const TIMEOUT_MS = 10_000
const ATTEMPTS = 3
const PAUSE_MS = 1_000
/** ID tokens have a few kilobytes. */
const MAX_ANSWER_CHARACTERS = 64 * 1_024

const PERMISSION = 'give the job `permissions: id-token: write`'

/** Returns ID tokens that the platform of the pipeline issues. */
export type IdTokenSource = (use: { isRenewal: boolean }) => Promise<string>

/**
 * Finds out where ID tokens come from: SLIPWAY_ID_TOKEN, else GitHub Actions.
 * @throws UsageError if there is no source
 */
export function createIdTokenSource(io: Io, url: string, account: string, fetchToken: typeof fetch): IdTokenSource {
  const { SLIPWAY_ID_TOKEN, GITHUB_ACTIONS, ACTIONS_ID_TOKEN_REQUEST_URL, ACTIONS_ID_TOKEN_REQUEST_TOKEN } = io.env
  if (SLIPWAY_ID_TOKEN) return useGivenToken(SLIPWAY_ID_TOKEN.trim(), account)
  if (ACTIONS_ID_TOKEN_REQUEST_URL && ACTIONS_ID_TOKEN_REQUEST_TOKEN) {
    if (!URL.canParse(ACTIONS_ID_TOKEN_REQUEST_URL))
      throw new UsageError('ACTIONS_ID_TOKEN_REQUEST_URL is no address: leave it as GitHub sets it')
    const address = new URL(ACTIONS_ID_TOKEN_REQUEST_URL)
    address.searchParams.set('audience', getAudience(io, url))
    const credential = ACTIONS_ID_TOKEN_REQUEST_TOKEN.trim()
    return () => readTokenOfGitHub(io, address, credential, fetchToken)
  }
  const problem = `SLIPWAY_SERVICE_ACCOUNT=${account} needs an ID token of the pipeline`
  if (GITHUB_ACTIONS === 'true')
    throw new UsageError(`${problem}, but this job may not ask GitHub for one: ${PERMISSION}`)
  throw new UsageError(
    `${problem}: set SLIPWAY_ID_TOKEN to it (GitLab: \`id_tokens\` of the job), or unset the variable`,
  )
}

/** What trusts of the service account compare with the audience of the token. */
export const getAudience = ({ env }: Io, url: string): string => env['SLIPWAY_TOKEN_AUDIENCE'] || url

function useGivenToken(token: string, account: string): IdTokenSource {
  return async ({ isRenewal }) => {
    if (!isRenewal) return token
    throw new AccessEndedError(
      `the access of the service account "${account}" has ended, and SLIPWAY_ID_TOKEN works only once: ` +
        'start slipway again with a new ID token, for example in a new job',
    )
  }
}

async function readTokenOfGitHub(io: Io, address: URL, credential: string, fetchToken: typeof fetch): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await askGitHub(address, credential, fetchToken)
    } catch (error) {
      if (!(error instanceof UnreachableError) || attempt === ATTEMPTS) throw error
      await io.sleep(PAUSE_MS * attempt, new AbortController().signal)
    }
  }
}

/** Its errors show neither the query of the address nor the text of a failure: these may hold credentials. */
async function askGitHub(address: URL, credential: string, fetchToken: typeof fetch): Promise<string> {
  const where = `GitHub does not give an ID token at ${address.host}`
  const headers = { authorization: `Bearer ${credential}`, accept: 'application/json' }
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const response = await fetchToken(address, { headers, signal }).catch((error: unknown) => {
    throw new UnreachableError(`${where} (${getCause(error)}): check the network of the runner`)
  })
  if (response.status >= 500) throw new UnreachableError(`${where} (status ${response.status}): run the job again`)
  if (!response.ok) throw new RefusedError(`${where} (status ${response.status}): ${PERMISSION}`)
  const text = await response.text().catch(() => '')
  const token = text.length <= MAX_ANSWER_CHARACTERS ? readValue(text) : undefined
  if (token === undefined) throw new UnreachableError(`${where}: its answer holds no token; run the job again`)
  return token
}

function readValue(text: string): string | undefined {
  try {
    const { value } = JSON.parse(text) as { value?: unknown }
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

function getCause(error: unknown): string {
  const { name, cause } = error as { name?: string; cause?: { code?: string } }
  return cause?.code ?? name ?? 'no answer'
}
