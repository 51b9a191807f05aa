import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { resetPasswordCommand } from '../src/administration/reset-password-command.ts'
import { loginAs } from './credentials.ts'
import { addUser, clientOf, startGateway, type TestGateway } from './setup.ts'

let gateway: TestGateway
const PASSWORD = 'a-password-that-is-new'

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

async function call(...args: string[]) {
  const printed: string[] = []
  await resetPasswordCommand(args, {
    databaseUrl: () => gateway.dependencies.database.pool.options.connectionString ?? '',
    readStdin: async () => `${PASSWORD}\n`,
    print: (text) => printed.push(text),
  })
  return printed.join('')
}
const logIn = async (email: string, password: string) => {
  const { status, body } = await loginAs(gateway, email, password)
  return [status, body.requires_2fa ?? false]
}

test('a printed password opens the account, ends its sessions and is in the audit log', async () => {
  const { id, email, token } = await addUser(gateway, { role: 'admin' })
  const [, password = ''] = /^password: (.*)$/m.exec(await call('--email', email.toUpperCase())) ?? []
  expect((await clientOf(gateway, token).send('listRoles', '/admin/roles')).status).toBe(401)
  expect(await logIn(email, password)).toEqual([200, false])
  const { rows } = await gateway.database.query(
    "SELECT actor_name, details FROM audit_records WHERE resource_id = $1 AND action = 'user.update'",
    [id],
  )
  expect(rows).toEqual([{ actor_name: 'an operator on the machine', details: { changes: {}, password_changed: true } }])
  expect(JSON.stringify(rows)).not.toContain(password)
})

test('a second factor stays unless it is dropped', async () => {
  const { id, email } = await addUser(gateway, { role: 'admin' })
  await gateway.database.query('UPDATE users SET totp_enabled = true WHERE id = $1', [id])
  expect(await call('--email', email, '--password-stdin')).toContain('--drop-second-factor')
  expect(await logIn(email, PASSWORD)).toEqual([200, true])
  await call('--email', email, '--password-stdin', '--drop-second-factor')
  expect(await logIn(email, PASSWORD)).toEqual([200, false])
})

test('a suspended user needs --activate, and one of a login provider --break-glass', async () => {
  const { id, email } = await addUser(gateway, { role: 'admin' })
  await gateway.database.query("UPDATE users SET status = 'suspended' WHERE id = $1", [id])
  await expect(call('--email', email, '--password-stdin')).rejects.toThrow(/suspended.*--activate/)
  await gateway.database.query(
    "INSERT INTO identities (user_id, provider, issuer, subject) VALUES ($1, 'company', 'https://id.example.com', 'ada')",
    [id],
  )
  await expect(call('--email', email, '--password-stdin', '--activate')).rejects.toThrow(/"company".*--break-glass/)
  await call('--email', email, '--password-stdin', '--activate', '--break-glass')
  expect(await logIn(email, PASSWORD)).toEqual([200, false])
})

test('an unknown or missing address names the administrators', async () => {
  const { email } = await addUser(gateway, { role: 'admin' })
  await expect(call('--email', 'nobody@example.com')).rejects.toThrow(email)
  await expect(call()).rejects.toThrow(email)
})
