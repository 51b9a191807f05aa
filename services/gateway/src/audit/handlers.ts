import { verifyAuditPart } from '@slipway/database/audit'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { listAuditLogs } from './list.ts'

export const auditHandlers = ({ database }: Dependencies): HandlersOf<'listAuditLogs' | 'checkAuditChain'> => ({
  listAuditLogs: { handle: (call) => listAuditLogs(database, call) },
  checkAuditChain: {
    handle: async ({ query: { after } }) => ({
      status: 200,
      body: await verifyAuditPart(database, after === undefined ? {} : { after: Number(after) }),
    }),
  },
})
