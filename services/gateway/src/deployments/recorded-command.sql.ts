import { bool, statement, uuid } from '@slipway/database'

/** Whether the audit log has a record of this command. */
export const isRecorded = statement({
  name: 'gateway.deployments.is-command-recorded',
  parameters: { command_id: uuid },
  row: { recorded: bool },
  sql: 'SELECT EXISTS (SELECT FROM audit_records WHERE id = :command_id) AS recorded',
})
