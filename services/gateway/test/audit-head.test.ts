import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { linkAudit, recordAudit, verifyAudit } from '@slipway/database/audit'
import { createLogger } from '@slipway/runtime'
import { type OpenTestDatabase, openTestDatabase, waitFor } from '@slipway/testing'
import { startAuditLinker } from '../src/audit/linker.ts'
import { verifyCommand } from '../src/audit/verify-command.ts'

let server: OpenTestDatabase
beforeAll(async () => {
  server = await openTestDatabase()
})
afterAll(() => server.drop())

test('each gateway publishes the head of the chain and detects a truncated chain', async () => {
  const stream = new PassThrough()
  let log = ''
  stream.on('data', (chunk: Buffer) => {
    log += chunk
  })
  const gateway = server.as('gateway')
  const linker = startAuditLinker(gateway, createLogger({ service: 'test', level: 'info', stream }), 0)
  try {
    const entry = { actor_id: null, actor_name: 'ada', actor_ip: null, tenant_id: null, request_id: null, details: {} }
    for (const resource_id of ['1', '2', '3']) {
      await recordAudit(gateway, [{ ...entry, action: 'target.update', resource_type: 'target', resource_id }])
    }
    await waitFor(() => linker.published()?.position === 3, { what: 'the head to be published' })
    const noted = linker.published() ?? undefined
    expect(log).toContain(`"position":3,"hash":"${noted?.hash}"`)

    await server.database.query('ALTER TABLE audit_links DISABLE TRIGGER USER')
    await server.database.query('DELETE FROM audit_links WHERE position = 3')
    await server.database.query('ALTER TABLE audit_records DISABLE TRIGGER USER')
    await server.database.query('DELETE FROM audit_records WHERE number = 3')
    await waitFor(() => log.includes('the audit chain lost links'), { what: 'the gateway to see it' })
    const { findings } = await verifyAudit(server.as('audit-verify'), noted === undefined ? {} : { expect: noted })
    expect(findings).toMatchObject([{ position: 3, problem: 'the chain ends at 2, before the expected link' }])
  } finally {
    await linker.stop()
  }
})

test('audit-verify says whether the chain is whole, and names the first broken position', async () => {
  const own = await openTestDatabase()
  const verify = async (...args: string[]) => {
    let printed = ''
    const print = (text: string) => {
      printed += text
    }
    const code = await verifyCommand(args, { databaseUrl: own.urlOf('audit-verify'), print, printError: print })
    return { code, printed }
  }
  const entry = { actor_id: null, actor_name: 'ada', actor_ip: null, tenant_id: null, request_id: null, details: {} }
  for (const resource_id of ['1', '2', '3']) {
    await recordAudit(own.as('gateway'), [{ ...entry, action: 'target.update', resource_type: 'target', resource_id }])
  }
  await linkAudit(own.as('gateway'), { late: true })
  const { code, printed } = await verify()
  expect({ code, printed }).toEqual({
    code: 0,
    printed: expect.stringMatching(/^The audit log is whole: 3 records are linked/),
  })
  const [, head = ''] = /Head: (\S+)/.exec(printed) ?? []
  expect((await verify('--expect', head)).code).toBe(0)
  await own.database.query('ALTER TABLE audit_records DISABLE TRIGGER USER')
  await own.database.query(`UPDATE audit_records SET actor_name = 'nobody' WHERE number = 2`)
  expect(await verify()).toEqual({ code: 1, printed: expect.stringContaining('BROKEN, first at position 2,') })
  expect(await verify('--expect', 'nonsense')).toEqual({ code: 2, printed: expect.stringContaining('POSITION:HASH') })
  expect(await verify('--help')).toEqual({ code: 0, printed: expect.stringMatching(/^Usage: /) })
  await own.drop()
})
