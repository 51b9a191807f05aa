import type { Schema } from '@slipway/client'
import type { Command } from 'commander'
import { RefusedError } from '../exit-code.ts'
import { sanitize } from '../terminal/controls.ts'
import { formatPlanOf } from '../terminal/plan.ts'
import { requireConsent } from '../terminal/prompt.ts'
import { formatTime } from '../terminal/table.ts'
import { type Context, provideContext } from './context.ts'
import { resolveRequestId } from './references.ts'
import { readPending } from './wait.ts'

const REQUEST_ARGUMENT = 'id of the pending request, the beginning of it, or @last'

interface ApproveOptions {
  comment?: string
  planHash?: string
  yes?: boolean
}

export function addApprovals(program: Command): void {
  program
    .command('approve')
    .argument('<request>', REQUEST_ARGUMENT)
    .description('approve a pending request; shows its plan first')
    .option('--comment <text>', 'a comment for people; the audit record has it')
    .option('--plan-hash <hash>', 'refuse if the plan is another one than that with this hash; for scripts')
    .option('-y, --yes', 'do not ask; needed without a terminal')
    .action(provideContext(approve))
  program
    .command('reject')
    .argument('<request>', REQUEST_ARGUMENT)
    .description('reject a pending request, which ends it')
    .requiredOption('--comment <text>', 'why, for people; the request and the audit record have it')
    .action(provideContext(reject))
}

async function approve(context: Context, reference: string, options: ApproveOptions): Promise<void> {
  const { io, client, output, screen } = context
  const id = await resolveRequestId(context, reference)
  const request = await readPending(client, id)
  const { plan_hash } = request
  if (options.planHash !== undefined && options.planHash !== plan_hash) {
    throw new RefusedError(
      `the plan is not the expected one: its hash is ${plan_hash ?? 'not known'}, not ${options.planHash}; look at it with \`slipway pending show\``,
    )
  }
  for (const line of [...formatPlanOf(request, output), '', ...formatApprovals(request).map(sanitize)])
    screen.writeLine(line)
  screen.end()
  await requireConsent(io, `approve ${request.source_name} ${request.source_version}`, { yes: options.yes === true })
  const body = {
    ...(plan_hash === undefined ? {} : { plan_hash }),
    ...(options.comment === undefined ? {} : { comment: options.comment }),
  }
  const approved = await client.call('approvePending', { params: { id }, body })
  output.printRecord(approved, () => [`approved ${id}: ${formatMissing(approved)}`])
}

async function reject(context: Context, reference: string, { comment }: { comment: string }): Promise<void> {
  const { client, output } = context
  const id = await resolveRequestId(context, reference)
  const rejected = await client.call('rejectPending', { params: { id }, body: { comment } })
  output.printRecord(rejected, () => [`rejected ${id}`])
}

type Pending = Schema<'PendingRequest'>

function formatMissing({ approvals, waiting_reason, status }: Pending): string {
  if (status !== 'pending') return `it is ${status}`
  const missing = approvals?.rules.reduce((most, rule) => Math.max(most, rule.missing), 0) ?? 0
  return missing > 0 ? (waiting_reason ?? 'more approvals are missing') : 'it has all approvals, and goes on by itself'
}

/** Who must approve, who has, and until when. */
export function formatApprovals({ approvals }: Pending): string[] {
  if (approvals === undefined) return ['no rule asks for an approval']
  return [
    ...approvals.rules.map(({ environment_name, count, role, missing }) => {
      const who = role === null ? '' : ` of the role ${role}`
      return `${environment_name}: ${count - missing} of ${count} approvals${who}`
    }),
    ...approvals.given.map(({ user_name, at, comment }) => {
      return `  ${user_name}, ${formatTime(at)}${comment === null ? '' : `: ${comment}`}`
    }),
    `without them it ends at ${formatTime(approvals.expires_at)}`,
  ]
}
