import { parseArgs } from 'node:util'
import { createDatabase, type Transaction } from '@slipway/database'
import { recordAudit } from '@slipway/database/audit'
import { ADMIN_ROLE } from '@slipway/domain'
import { randomToken } from '@slipway/runtime'
import { normalizeEmail } from '../callers/calling-user.ts'
import { createPasswordHasher, MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../credentials/passwords.ts'
import { deleteRecoveryCodes, disableFactor } from '../identity/second-factor.sql.ts'
import { revokeUser } from '../identity/sessions.ts'
import { changesOf } from '../records/changes.ts'
import { USER } from './user-records.ts'

const USAGE = `Usage: make reset-password ARGS='--email ADDRESS [options]'
       node services/gateway/dist/administration/reset-password.js --email ADDRESS [options]

Sets a new password straight in the database of DATABASE_URL, for an administrator who cannot log in. It ends all sessions
of the user. API keys stay. Without --email it lists the administrators. Users who can log in use
\`slipway users edit ADDRESS --password-stdin\`.

  --email ADDRESS       the user
  --password-stdin      reads the password from standard input; otherwise a random one is made and printed
  --drop-second-factor  also removes the second factor and its recovery codes
  --activate            also makes a suspended or inactive user active
  --break-glass         lets the user log in by password where passwords are switched off, or a login provider has the account
`
const ACTOR = 'an operator on the machine'

interface Options {
  dropSecondFactor: boolean
  activate: boolean
  breakGlass: boolean
}

export interface ResetPasswordContext {
  databaseUrl(): string
  readStdin(): Promise<string>
  print(text: string): void
}

/**
 * Runs the command with these arguments.
 * @throws Error for the user of the command
 */
export async function resetPasswordCommand(args: string[], context: ResetPasswordContext): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      email: { type: 'string' },
      'password-stdin': { type: 'boolean', default: false },
      'drop-second-factor': { type: 'boolean', default: false },
      activate: { type: 'boolean', default: false },
      'break-glass': { type: 'boolean', default: false },
      help: { type: 'boolean' },
    },
  })
  if (values.help === true) return context.print(USAGE)
  const { email } = values
  const given = values['password-stdin'] ? readPassword(await context.readStdin()) : null
  const password = given ?? randomToken()
  const database = createDatabase({
    url: context.databaseUrl(),
    applicationName: 'slipway reset password',
    max: 1,
    tenant: '*',
  })
  try {
    if (email === undefined) {
      const addresses = await database.transaction(listAdministrators)
      throw new Error(`--email is missing; the administrators are: ${addresses.join(', ') || 'none'}`)
    }
    const password_hash = await createPasswordHasher().hash(password)
    const options = {
      dropSecondFactor: values['drop-second-factor'],
      activate: values.activate,
      breakGlass: values['break-glass'],
    }
    const done = await database.transaction((tx) => resetPassword(tx, { email, password_hash, options }))
    if (given === null) context.print(`password: ${password}\n`)
    for (const line of done) context.print(`${line}\n`)
  } finally {
    await database.close()
  }
}

function readPassword(text: string): string {
  const [password = ''] = text.split(/\r?\n/)
  const length = [...password].length
  if (length >= MIN_PASSWORD_LENGTH && length <= MAX_PASSWORD_LENGTH) return password
  throw new Error(
    `the password on standard input has ${length} characters; it must have ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH}`,
  )
}

async function listAdministrators(tx: Transaction): Promise<string[]> {
  const users = await (await tx.prisma()).user.findMany({
    where: { tenant_id: null, kind: 'person', roles: { some: { role: { name: ADMIN_ROLE } } } },
    select: { email: true, status: true },
    orderBy: { created_at: 'asc' },
  })
  return users.flatMap(({ email, status }) =>
    email === null ? [] : [status === 'active' ? email : `${email} (${status})`],
  )
}

/** Returns what is done and what still keeps the user from logging in, in sentences. */
async function resetPassword(
  tx: Transaction,
  { email, password_hash, options }: { email: string; password_hash: string; options: Options },
): Promise<string[]> {
  const { user: users } = await tx.prisma()
  const where = { email: normalizeEmail(email) }
  const found = await users.findFirst({ where, select: { id: true } })
  // What an administrator changes at the same time must be seen.
  if (found !== null) await USER.lock.run(tx, found)
  const user = await users.findFirst({
    where,
    select: {
      id: true,
      tenant_id: true,
      status: true,
      break_glass: true,
      totp_enabled: true,
      identity: { select: { provider: true } },
    },
  })
  if (user === null) {
    const administrators = await listAdministrators(tx)
    throw new Error(`no user has the e-mail ${email}; the administrators are: ${administrators.join(', ') || 'none'}`)
  }
  if (user.status !== 'active' && !options.activate) {
    throw new Error(`${email} is ${user.status}, so a new password would not help: add --activate`)
  }
  if (user.identity !== null && !user.break_glass && !options.breakGlass) {
    throw new Error(
      `${email} logs in with the login provider "${user.identity.provider}": change the password there, or add --break-glass`,
    )
  }
  const drops = user.totp_enabled && options.dropSecondFactor
  const after = { status: 'active', break_glass: user.break_glass || options.breakGlass }
  await users.update({ where: { id: user.id }, data: { ...after, password_hash } })
  if (drops) {
    await disableFactor.run(tx, { user_id: user.id })
    await deleteRecoveryCodes.run(tx, { user_id: user.id })
  }
  await revokeUser(tx, user.id)
  await recordAudit(tx, [
    {
      actor_id: null,
      actor_name: ACTOR,
      actor_ip: null,
      request_id: null,
      tenant_id: user.tenant_id,
      action: 'user.update',
      resource_type: 'user',
      resource_id: user.id,
      details: {
        changes: changesOf(user, after),
        password_changed: true,
        ...(drops ? { second_factor_removed: true } : {}),
      },
    },
  ])
  return [
    `${email} has the new password. All sessions of the user have ended.`,
    ...(drops ? ['The second factor is removed: set it up again after the login.'] : []),
    ...(user.totp_enabled && !drops
      ? ['The login still asks for the second factor: --drop-second-factor removes it.']
      : []),
    ...(after.break_glass ? [] : ['Where passwords are switched off, the login also needs --break-glass.']),
    'An address with too many failed logins waits for up to 15 minutes.',
  ]
}
