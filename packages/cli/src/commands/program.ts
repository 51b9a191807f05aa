import { Option } from 'commander'
import type { Io } from '../io.ts'
import { parsePaths } from '../terminal/fields.ts'
import { FORMATS } from '../terminal/output.ts'
import { addApply } from './apply.ts'
import { addApprovals } from './approvals.ts'
import { addAudit } from './audit.ts'
import { addBindings } from './bindings.ts'
import { addCan } from './can.ts'
import { addCatalog } from './catalog.ts'
import { addCompletion } from './completion.ts'
import { addContent } from './content.ts'
import { addContexts } from './contexts.ts'
import { addDeploy } from './deploy.ts'
import { addDeployments } from './deployments.ts'
import { addDrift } from './drift.ts'
import { addEnvironments } from './environments.ts'
import { addFreezes } from './freezes.ts'
import { addHelp, completeHelp, HELP } from './help.ts'
import { addInstances } from './instances.ts'
import { addJoinTokens } from './join-tokens.ts'
import { addKeys } from './keys.ts'
import { addLogin } from './login.ts'
import { refuseUnknownCommand } from './nouns.ts'
import { addPending } from './pending.ts'
import { addPromote } from './promote.ts'
import { addReleases } from './releases.ts'
import { addRoles } from './roles.ts'
import { addRollback } from './rollback.ts'
import { RootCommand } from './root.ts'
import { addServiceAccounts } from './service-accounts.ts'
import { refuseSwallowedOptions } from './swallowed-options.ts'
import { addTargets } from './targets.ts'
import { addTenants } from './tenants.ts'
import { addToken } from './token.ts'
import { addTrusts } from './trusts.ts'
import { addUsers } from './users.ts'
import { parseDuration } from './values.ts'
import { addVersion } from './version.ts'
import { addWebhooks } from './webhooks.ts'

/** Builds the tree of all commands. */
export function buildProgram(io: Io): RootCommand {
  const program = new RootCommand(io)
  program
    .description('Create, watch and control deployments')
    .option('-V, --version', 'print the version')
    .option('--url <url>', 'the server; default: SLIPWAY_URL, the context in use, or the server of the last login')
    .option('--context <name>', 'a server by its name (`slipway contexts`); default: SLIPWAY_CONTEXT')
    .option('--ca-file <file>', 'certificates of authorities to trust besides the usual ones; default: SLIPWAY_CA_FILE')
    .option('--request-timeout <duration>', 'how long an answer may take, such as 5s; default: 30s', parseDuration)
    .addOption(new Option('-o, --output <format>', 'format of the output').choices(FORMATS).default('table'))
    .option(
      '--select <fields>',
      'only these fields, such as id,connection.host; without -o separated by tabs',
      parsePaths,
    )
    .configureHelp(HELP)
    .showHelpAfterError('(--help lists commands and options)')
    .exitOverride()
  // main() prints the version. If `slipway deploy x --version 1.0.0` did so, it would succeed and deploy nothing.
  program.on('option:version', () =>
    program.error('error: --version shows the version of slipway; for the version of a source use --source-version'),
  )
  refuseSwallowedOptions(program)
  addLogin(program)
  addToken(program)
  addContexts(program)
  addApply(program)
  addDeploy(program)
  addPromote(program)
  addRollback(program)
  addDeployments(program)
  addReleases(program)
  addDrift(program)
  addPending(program)
  addApprovals(program)
  addFreezes(program)
  addTargets(program)
  addCatalog(program)
  addEnvironments(program)
  addTenants(program)
  addContent(program)
  addInstances(program)
  addJoinTokens(program)
  addKeys(program)
  addUsers(program)
  addServiceAccounts(program)
  addTrusts(program)
  addRoles(program)
  addBindings(program)
  addCan(program)
  addWebhooks(program)
  addAudit(program)
  addCompletion(program)
  addVersion(program)
  addHelp(program)
  program.on('command:*', ([word = '', ...rest]: string[]) => refuseUnknownCommand(program, word, rest))
  completeHelp(program, io)
  return program
}
