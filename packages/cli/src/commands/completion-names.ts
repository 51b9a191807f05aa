import { SlipwayClient } from '@slipway/client'
import { chooseCredential } from '../configuration/credentials.ts'
import { readConfiguration } from '../configuration/file.ts'
import { readLastRun } from '../configuration/last-run.ts'
import { createFetch } from '../configuration/network.ts'
import { chooseServer } from '../configuration/server.ts'
import { take } from './lists.ts'
import { getName } from './records.ts'
import { LAST } from './references.ts'
import type { RootCommand } from './root.ts'

/** The limit for the answer of the server: a shell waits for it at each press of Tab. */
const TIMEOUT_MS = 2_000
const MAX_NAMES = 200

const NAMED = {
  action: ['listActions'],
  sequence: ['listSequences'],
  solution: ['listSolutions'],
  source: ['listSolutions', 'listSequences', 'listActions'],
  target: ['listTargets'],
  environment: ['listEnvironments'],
  tenant: ['listTenants'],
  freeze: ['listFreezes'],
  instance: ['listInstances'],
  role: ['listRoles'],
} as const

type NamedKind = keyof typeof NAMED
export type CompletedKind =
  | NamedKind
  | 'content'
  | 'context'
  | 'deployment'
  | 'event'
  | 'key'
  | 'permission'
  | 'request'
  | 'service-account'
  | 'tag'
  | 'user'
  | 'webhook'
type ServerKind = Exclude<CompletedKind, 'context' | 'event' | 'permission'>

const isNamed = (kind: ServerKind): kind is NamedKind => Object.hasOwn(NAMED, kind)

/** Lists the names, or ids, of this kind that may fit the prefix: what this machine knows, and what the server answers. */
export async function listKnownNames(program: RootCommand, kind: CompletedKind, prefix: string): Promise<string[]> {
  if (kind === 'context') return Object.keys(readConfiguration(program.io).contexts ?? {})
  if (kind === 'event' || kind === 'permission') {
    const { PERMISSIONS, WEBHOOK_EVENT_NAMES } = await import('@slipway/contracts')
    return kind === 'event' ? WEBHOOK_EVENT_NAMES : [...PERMISSIONS]
  }
  const last =
    kind === 'deployment' && readLastRun(program.io, chooseServer(program.io, program).url) !== undefined ? [LAST] : []
  return [...last, ...(await listServerNames(program, kind, prefix).catch(() => []))]
}

async function listServerNames(program: RootCommand, kind: ServerKind, prefix: string): Promise<string[]> {
  const { io } = program
  const server = chooseServer(io, program)
  const ownFetch = await createFetch(io.env, server.caFile)
  const credential = chooseCredential(io, server, ownFetch ?? fetch)
  // A press of Tab must not use up the ID token of a service account.
  if (credential === undefined || 'serviceAccount' in credential) return []
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const client = new SlipwayClient({
    url: server.url,
    ...credential,
    retryForMs: 0,
    ...(ownFetch === undefined ? {} : { fetch: ownFetch }),
  })
  const names = await readNames(client, kind, prefix, signal)
  // A name with a line break would be two words for the shell.
  return [...new Set(names)].filter((name) => !/\p{Cc}/u.test(name))
}

async function readNames(client: SlipwayClient, kind: ServerKind, search: string, signal: AbortSignal) {
  if (isNamed(kind)) {
    const query = search === '' ? {} : { search }
    const lists = NAMED[kind].map((operation) => take(client.each(operation, { query, signal }), MAX_NAMES))
    return (await Promise.all<{ name: string }[]>(lists)).flat().map(({ name }) => name)
  }
  switch (kind) {
    case 'deployment':
      return (await take(client.each('listDeployments', { signal }), MAX_NAMES)).map(({ id }) => id)
    case 'request':
      return (await client.call('listPending', { signal })).map(({ id }) => id)
    case 'user':
      return (await take(client.each('listUsers', { signal }), MAX_NAMES)).map(getName)
    case 'service-account': {
      const users = await take(client.each('listUsers', { signal }), MAX_NAMES)
      return users.filter((one) => one.kind === 'service').map(getName)
    }
    case 'webhook':
      return (await take(client.each('listWebhooks', { signal }), MAX_NAMES)).map(({ url }) => url)
    case 'key':
      return (await client.call('listApiKeys', { signal })).api_keys.map(({ name }) => name)
    case 'content':
      return (await take(client.each('listContent', { signal }), MAX_NAMES)).map(({ id }) => id)
    case 'tag': {
      const targets = await take(client.each('listTargets', { signal }), MAX_NAMES)
      return targets.flatMap(({ tags }) => tags.map(({ key, value }) => `${key}=${value}`))
    }
  }
}
