import type { Records, Transaction } from '@slipway/database'
import { type Binding, conflict, isUuid, notFound, requireMay } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import type { CallingUser } from '../callers/calling-user.ts'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { deleteKey, findKeys } from '../identity/api-keys.sql.ts'
import { addKey, keyDetails, keyRecord, newKeyRecord } from '../identity/api-keys.ts'
import { announceRevocation } from '../identity/sessions.ts'
import { issuerProblem } from '../identity/tokens/issuer-url.ts'
import { choosesTokens } from '../identity/tokens/matching.ts'
import { deleteTrust, findTrusts, insertTrust } from '../identity/tokens/tokens.sql.ts'
import { findRecord } from '../records/kind.ts'
import { References } from '../records/references.ts'
import { resolvedScope, scopeReferences } from '../records/scopes.ts'
import { bindingsOf, USER, type UserRow } from './user-records.ts'
import { requireMayActAs } from './user-rules.ts'

const MAX_TRUSTS = 50

type TrustOperation = 'listTrusts' | 'createTrust' | 'deleteTrust'
type KeyOperation = 'listUserApiKeys' | 'createUserApiKey' | 'deleteUserApiKey'

/** The trusts and API keys of service accounts. Nobody logs in to a service account, so administrators make them. */
export function serviceAccountHandlers({
  database,
  outboxChanged,
  tokenIssuers,
}: Pick<Dependencies, 'database' | 'outboxChanged' | 'tokenIssuers'>): HandlersOf<TrustOperation | KeyOperation> {
  /** Runs a change with the account, whose row stays locked until the change is done. */
  async function change<T>(
    caller: CallingUser,
    id: string | undefined,
    work: (tx: Transaction, account: Account) => Promise<T>,
  ): Promise<T> {
    // Loads Prisma, if this is its first use: Postgres would end a transaction that waits for that on a busy machine.
    await database.prisma()
    return database.transaction(async (tx) => {
      if (isUuid(id ?? '')) await USER.lock.run(tx, { id: id ?? '' })
      return work(tx, await findServiceAccount(await tx.prisma(), caller, id))
    })
  }

  return {
    listTrusts: {
      async handle({ caller, params }) {
        const { id } = await findRecord(USER, await database.prisma(), caller, params['id'] ?? '')
        return { status: 200, body: { trusts: (await findTrusts.all(database, { user_id: id })).map(trustRecord) } }
      },
    },

    createTrust: {
      check: ({ issuer, claims }) => [
        ...problemsAt('/issuer', typeof issuer === 'string' ? issuerProblem(issuer, tokenIssuers) : null),
        ...problemsAt('/claims', problemOfClaims(claims)),
      ],
      async handle({ caller, params, body, audit }) {
        return change(caller, params['id'], async (tx, { id: user_id, tenant_id, username, bindings }) => {
          requireMayActAs(caller, bindings)
          if ((await findTrusts.all(tx, { user_id })).length >= MAX_TRUSTS) {
            throw conflict(`The account has ${MAX_TRUSTS} trusts, which is the most: delete one first`)
          }
          const trust = await insertTrust.first(tx, { ...body, id: uuidv7(), user_id, created_by: caller.user_id })
          if (trust === null) throw conflict('The account has a trust of this name: choose another name')
          const { id, name, issuer, audience, claims } = trust
          const details = { username, name, issuer, audience, claims }
          await audit.record(tx, { resource_id: id, tenant_id, details })
          return { status: 201, body: trustRecord(trust) }
        })
      },
    },

    deleteTrust: {
      async handle({ caller, params, audit }) {
        const id = params['trust_id'] ?? ''
        return change(caller, params['id'], async (tx, { id: user_id, tenant_id, username }) => {
          const deleted = isUuid(id) ? await deleteTrust.first(tx, { id, user_id }) : null
          if (deleted === null) throw notFound('The trust')
          await audit.record(tx, { resource_id: id, tenant_id, details: { username, ...deleted } })
          return { status: 204 }
        })
      },
    },

    listUserApiKeys: {
      async handle({ caller, params }) {
        const { id } = await findServiceAccount(await database.prisma(), caller, params['id'])
        const rows = await findKeys.all(database, { user_id: id })
        return { status: 200, body: { api_keys: rows.map(keyRecord) } }
      },
    },

    createUserApiKey: {
      async handle({ caller, params, body, audit }) {
        const references = await References.resolve(database, caller, scopeReferences(body))
        return change(caller, params['id'], async (tx, { id, tenant_id, username, bindings }) => {
          requireMayActAs(caller, bindings)
          for (const scope of body.scopes ?? []) requireMay({ bindings, key: null }, scope)
          references.requireFit(tenant_id)
          const { row, full_key } = await addKey(tx, id, body, resolvedScope(body, references))
          await audit.record(tx, { resource_id: row.id, tenant_id, details: { username, ...keyDetails(row) } })
          return { status: 201, body: newKeyRecord(row, full_key) }
        })
      },
    },

    deleteUserApiKey: {
      async handle({ caller, params, audit }) {
        const id = params['key_id'] ?? ''
        const answer = await change(caller, params['id'], async (tx, { id: user_id, tenant_id, username }) => {
          const deleted = isUuid(id) ? await deleteKey.first(tx, { id, user_id }) : null
          if (deleted === null) throw notFound('The API key')
          await announceRevocation(tx, user_id)
          await audit.record(tx, { resource_id: id, tenant_id, details: { username, ...deleted } })
          return { status: 204 }
        })
        outboxChanged()
        return answer
      },
    },
  }
}

type Account = UserRow & { bindings: Binding[] }

/** @throws Problem NOT_FOUND, or CONFLICT for a person */
async function findServiceAccount(prisma: Records, caller: CallingUser, id = ''): Promise<Account> {
  const user = await findRecord(USER, prisma, caller, id)
  if (user.kind === 'service') return { ...user, bindings: bindingsOf(user) }
  throw conflict('This user is a person: only service accounts have trusts, and keys that others make')
}

const problemsAt = (path: string, message: string | null) => (message === null ? [] : [{ path, message }])

function problemOfClaims(claims: unknown): string | null {
  // The schema reports other forms.
  if (typeof claims !== 'object' || claims === null) return null
  if (choosesTokens(claims as Record<string, string>)) return null
  return 'must name at least one claim besides iss and aud, with a value that is not only *'
}

const trustRecord = <T extends { created_at: Date }>({ created_at, ...trust }: T) => ({
  ...trust,
  created_at: created_at.toISOString(),
})
