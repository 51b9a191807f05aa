import { parseArgs } from 'node:util'
import { CreateInstanceGrant, compile } from '@slipway/contracts'
import { createDatabase } from '@slipway/database'
import { recordAudit } from '@slipway/database/audit'
import { writeFileAtomically } from '@slipway/runtime'
import { grantDetails, makeGrant } from './new-grant.ts'

const USAGE = `Usage: node services/gateway/dist/administration/join-token.js [--uses N] [--expires-in-seconds N]
         [--label KEY[=VALUE]]... [--file PATH]

Creates a token with which orchestration instances join, straight in the database of DATABASE_URL. It is for operators on
the machine and for the first start. Afterwards use \`slipway join-tokens create\`.

  --uses N                how many instances can join with the token (1)
  --expires-in-seconds N  how long the token is valid (3600)
  --label KEY[=VALUE]     a label that a joining instance may have; with a key alone any value is allowed (repeatable)
  --file PATH             writes the token to this file, for its owner alone, instead of standard output
`
const ACTOR = 'an operator on the machine'
const problemsOf = compile(CreateInstanceGrant)

function labelOf(text: string): [string, string | null] {
  const end = text.indexOf('=')
  return end < 0 ? [text, null] : [text.slice(0, end), text.slice(end + 1)]
}

/**
 * Runs the command with these arguments.
 * @throws Error for the user of the command
 */
export async function joinTokenCommand(
  args: string[],
  { databaseUrl, print }: { databaseUrl(): string; print(text: string): void },
): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      uses: { type: 'string', default: '1' },
      'expires-in-seconds': { type: 'string', default: '3600' },
      label: { type: 'string', multiple: true, default: [] },
      file: { type: 'string' },
      help: { type: 'boolean' },
    },
  })
  if (values.help === true) return print(USAGE)
  const requested = {
    uses: Number(values.uses),
    expires_in_seconds: Number(values['expires-in-seconds']),
    labels: Object.fromEntries(values.label.map(labelOf)),
  }
  const [problem] = problemsOf(requested)
  if (problem !== undefined) throw new Error(`${problem.path.slice(1)} ${problem.message}; --help shows the options`)
  const database = createDatabase({
    url: databaseUrl(),
    applicationName: 'slipway join token',
    max: 1,
    tenant: '*',
  })
  try {
    const token = await database.transaction(async (tx) => {
      const made = await makeGrant(tx, { ...requested, tenant_id: null, created_by: null })
      await recordAudit(tx, [
        {
          actor_id: null,
          actor_name: ACTOR,
          actor_ip: null,
          request_id: null,
          tenant_id: null,
          action: 'instance_grant.create',
          resource_type: 'instance_grant',
          resource_id: made.grant.id,
          details: grantDetails(made.grant),
        },
      ])
      return made.token
    })
    if (values.file === undefined) print(`${token}\n`)
    else await writeFileAtomically(values.file, `${token}\n`)
  } finally {
    await database.close()
  }
}
