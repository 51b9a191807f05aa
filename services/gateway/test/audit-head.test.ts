import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { recordAudit, verifyAudit } from '@slipway/audit'
import { createLogger } from '@slipway/runtime'
import { type OpenTestDatabase, openTestDatabase, waitFor } from '@slipway/testing'
import { startAuditLinker } from '../src/audit/linker.ts'

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
