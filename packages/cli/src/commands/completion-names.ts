import { SlipwayClient } from '@slipway/client'
import type { Command } from 'commander'
import { createSessionStore } from '../configuration/file.ts'
import { prepareNetwork } from '../configuration/network.ts'
import { chooseServer } from '../configuration/server.ts'
import { readEnvironmentToken } from './context.ts'
import { take } from './lists.ts'

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
export type CompletedKind = NamedKind | 'deployment' | 'request' | 'tag' | 'user'

const isNamed = (kind: CompletedKind): kind is NamedKind => Object.hasOwn(NAMED, kind)

/** Lists the names, or ids, of this kind that the server knows and that may fit the prefix. No names if it does not answer. */
export async function listServerNames(program: Command, kind: CompletedKind, prefix: string): Promise<string[]> {
  const { url, context, caFile } = chooseServer(program)
  const token = readEnvironmentToken()
  const sessions = createSessionStore(url, context)
  if (!token && !sessions.load()) return []
  await prepareNetwork(caFile)
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const client = new SlipwayClient({ url, sessions, retryForMs: 0, ...(token ? { token } : {}) })
  const names = await readNames(client, kind, prefix, signal)
  // A name with a line break would be two words for the shell.
  return [...new Set(names)].filter((name) => !/\p{Cc}/u.test(name))
}

async function readNames(client: SlipwayClient, kind: CompletedKind, search: string, signal: AbortSignal) {
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
      return (await take(client.each('listUsers', { signal }), MAX_NAMES)).map(({ email }) => email)
    case 'tag': {
      const targets = await take(client.each('listTargets', { signal }), MAX_NAMES)
      return targets.flatMap(({ tags }) => tags.map(({ key, value }) => `${key}=${value}`))
    }
  }
}
