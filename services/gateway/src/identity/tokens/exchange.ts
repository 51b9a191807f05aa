import type { RowOf } from '@slipway/database'
import { hasUnstorableText, Problem } from '@slipway/domain'
import { hashToken, uuidv7 } from '@slipway/runtime'
import { userRecord } from '../../callers/calling-user.ts'
import type { Dependencies } from '../../dependencies.ts'
import type { Call, HandlersOf } from '../../handler.ts'
import { placeOf } from '../sessions.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import { findMismatch } from './matching.ts'
import { type RefusalReason, TokenRefused } from './refusal.ts'
import {
  deleteEndedSessionsOfAccount,
  EXCHANGED_SECONDS,
  findAccount,
  insertExchangedSession,
  takeToken,
} from './tokens.sql.ts'
import { type GenuineToken, SKEW_SECONDS, verifyToken } from './verify.ts'

/** How long the row of a used token outlives it. The clock of Postgres deletes the row, and may be ahead of that of the gateway. */
const KEPT_SECONDS = 600
/** Characters of the claim `sub` that the audit log keeps. */
const SUBJECT_CHARACTERS = 500

type Account = RowOf<typeof findAccount>
type AccountTrust = Account['trusts'][number]

type Parts = Pick<Dependencies, 'database' | 'accessTokens'> & {
  issuerKeys: IssuerKeys
  /** In milliseconds. */
  now(): number
}

interface Exchange {
  account: Account
  trust: AccountTrust
  token: GenuineToken
}

/** The same for every reason: it must not tell which accounts, trusts and issuers exist. */
const invalidToken = () =>
  new Problem(
    'INVALID_TOKEN',
    'The token is not accepted for this service account: an administrator finds the reason in the audit log',
  )

/** The exchange of the ID token of a pipeline for an access token of a service account. */
export function exchangeHandlers({ database, accessTokens, issuerKeys, now }: Parts): HandlersOf<'exchangeToken'> {
  async function judge(account: Account | null, text: string): Promise<Exchange> {
    const trusted = new Set(account?.trusts.map(({ issuer }) => issuer))
    const token = await verifyToken(text, { trusted, keys: issuerKeys, now: now() })
    const wrong = problemOfAccount(account)
    if (account === null || wrong !== null) throw new TokenRefused(wrong ?? 'unknown_account')
    return { account, trust: requireTrust(account, token), token }
  }

  /** Takes the token and opens a session without refresh token. Returns the id of the session. */
  async function beginSession({ account, trust, token }: Exchange, { audit, ...call }: Call<'exchangeToken'>) {
    const { user_id, username, tenant_id, token_version } = account
    const id = uuidv7()
    await database.transaction(async (tx) => {
      const token_hash = hashToken(JSON.stringify([token.issuer, user_id, token.identity]))
      const expires_at = new Date((token.expires + SKEW_SECONDS + KEPT_SECONDS) * 1_000)
      if ((await takeToken.run(tx, { token_hash, expires_at })) === 0) throw new TokenRefused('used_before')
      await deleteEndedSessionsOfAccount.run(tx, { user_id })
      await insertExchangedSession.run(tx, { id, user_id, token_version, ...placeOf(call) })
      const subject = shownSubject(token.claims['sub'])
      await audit.record(tx, {
        resource_id: user_id,
        tenant_id,
        actor: { id: user_id, name: username },
        details: { trust: trust.name, issuer: token.issuer, subject },
      })
    })
    return id
  }

  async function exchange(call: Call<'exchangeToken'>) {
    const { subject_token, service_account } = call.body
    const account = await findAccount.first(database, { username: service_account })
    try {
      const found = await judge(account, subject_token)
      const session_id = await beginSession(found, call)
      const { user_id } = found.account
      return {
        status: 200,
        body: {
          access_token: accessTokens.issue({ user_id, session_id }, EXCHANGED_SECONDS),
          issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
          token_type: 'Bearer',
          expires_in: EXCHANGED_SECONDS,
          user: userRecord(found.account),
        },
      }
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error
      const reason = problemOfAccount(account) ?? error.reason
      const subject = { resource_id: account?.user_id ?? null, tenant_id: account?.tenant_id ?? null }
      call.audit.about({ ...subject, details: { reason, ...(reason === error.reason ? error.details : {}) } })
      throw invalidToken()
    }
  }

  return {
    exchangeToken: {
      handle: exchange,
    },
  }
}

/** For the audit log. Whole characters: Postgres stores no half of one. */
function shownSubject(claim: unknown): string | null {
  if (typeof claim !== 'string' || hasUnstorableText(claim)) return null
  return [...claim].slice(0, SUBJECT_CHARACTERS).join('')
}

function problemOfAccount(account: Account | null): RefusalReason | null {
  if (account === null) return 'unknown_account'
  if (account.kind !== 'service') return 'not_a_service_account'
  return account.status === 'active' ? null : 'account_not_active'
}

/** @throws TokenRefused that names, for each trust of the issuer, the claim that does not match */
function requireTrust({ trusts }: Account, { claims, issuer }: GenuineToken): AccountTrust {
  const judged = trusts
    .filter((trust) => trust.issuer === issuer)
    .map((trust) => ({ trust, claim: findMismatch(claims, trust) }))
  const found = judged.find(({ claim }) => claim === null)
  if (found !== undefined) return found.trust
  throw new TokenRefused('no_trust_matches', {
    mismatches: judged.map(({ trust, claim }) => ({ trust: trust.name, claim })),
  })
}
