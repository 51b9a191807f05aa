import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../http/handler.ts'
import { listAuditLogs } from './list.ts'

export const auditHandlers = ({ database }: Dependencies): HandlersOf<'listAuditLogs'> => ({
  listAuditLogs: { handle: (call) => listAuditLogs(database, call) },
})
