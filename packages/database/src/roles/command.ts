import {
  type Administration,
  DEFAULT_USER_PREFIX,
  exportServiceUrls,
  optionalSetting,
  requiredSetting,
  runAdministration,
  serviceUrls,
  serviceUrlVariable,
  serviceUser,
} from '@slipway/runtime'
import pg from 'pg'
import { createRoles } from './create.ts'
import { applyGrants, openToPublic } from './grants.ts'
import { DATABASE_ROLES } from './rights.ts'

const USAGE = `Usage: node packages/database/dist/roles/command.js COMMAND, with DATABASE_URL

  create   creates the login roles of the services, or sets their passwords. DATABASE_URL names a user who may create
           roles. Each role has the user and password of its own address:
${DATABASE_ROLES.map((role) => `             ${serviceUrlVariable('DATABASE_URL', role).padEnd(28)} user ${serviceUser(role)}`).join('\n')}
           A role without address is left as it is.
  addresses
           prints those variables for roles on the server of DATABASE_URL, with its password for each
  grant    gives each role that exists its rights, and takes other rights away. DATABASE_URL names the owner of the
           tables. \`make migrate\` does this, too.

  SLIPWAY_ROLE_PREFIX   the beginning of the names of the roles, ${DEFAULT_USER_PREFIX} if it is not set
`

const say = (line: string) => process.stdout.write(`${line}\n`)

const address = () => requiredSetting('DATABASE_URL', USAGE)
const prefix = optionalSetting('SLIPWAY_ROLE_PREFIX') ?? DEFAULT_USER_PREFIX

const commands: Administration['commands'] = {
  async create() {
    const url = address()
    const urls = serviceUrls('DATABASE_URL', DATABASE_ROLES, process.env, prefix)
    if (urls.size === 0) throw new Error(`No address of a role is set\n\n${USAGE}`)
    say(`Roles that can log in: ${(await withClient(url, (client) => createRoles(client, urls))).join(', ')}`)
  },
  addresses() {
    for (const line of exportServiceUrls('DATABASE_URL', DATABASE_ROLES, address(), prefix)) say(line)
  },
  async grant() {
    const [roles, open] = await withClient(
      address(),
      async (client) => [await applyGrants(client, prefix), await openToPublic(client)] as const,
    )
    for (const sentence of open) process.stderr.write(`${sentence}\n`)
    say(roles.length > 0 ? `Rights given to: ${roles.join(', ')}` : 'No role of a service exists: nothing was given')
  },
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

await runAdministration({ usage: USAGE, commands })
