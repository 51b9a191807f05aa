import type { Argument, Command, Help, Option } from 'commander'
import { findConfiguredUrl } from '../configuration/server.ts'
import type { Io } from '../io.ts'
import { findCommand, getPath, LIST_VERB } from './command-tree.ts'
import { EXAMPLES } from './examples.ts'
import { refuseUnknownCommand } from './nouns.ts'

/** What `--help` and `slipway help` print. */

/** The commands of `slipway --help`, in this order. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  'Deploy:': ['deploy', 'preview', 'redeploy', 'promote', 'rollback', 'cancel'],
  'See what happens, and what is where:': [
    ...['status', 'deployments', 'watch', 'logs', 'results', 'where', 'on', 'matrix', 'changes', 'drift'],
  ],
  'Requests that wait, and what they wait for:': ['pending', 'approve', 'reject', 'freezes'],
  'What is deployed:': ['actions', 'sequences', 'solutions', 'content', 'apply', 'export'],
  'Where it is deployed:': ['targets', 'environments', 'tenants', 'instances', 'join-tokens'],
  'Who may do what, and who is told:': [
    ...['users', 'service-accounts', 'roles', 'bindings', 'trusts', 'keys', 'can', 'audit', 'webhooks'],
  ],
  'This machine:': ['login', 'logout', 'whoami', 'contexts', 'token', 'completion', 'version', 'help'],
}

const DEPLOYMENT_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  'What:': ['--kind', '--source-version', '--versions-of', '--var', '--var-file', '--prompted', '--only-failed'],
  'Where:': ['--target', '--tag', '--all-tags', '--all-targets', '--environment', '--tenant', '--only-changed'],
  'How:': [
    ...['--mode', '--failure-strategy', '--rollback-strategy', '--command-timeout', '--deployment-timeout'],
    ...['--max-retries', '--bypass-cache', '--strict', '--expect-plan', '--idempotency-key'],
  ],
  'When:': ['--at', '--expires', '--priority', '--override-freeze', '--override-rules', '--reason'],
  'Watch:': ['--dry-run', '--blocked-exit-code', '--wait', '--follow', '--timeout', '--cancel-on-interrupt'],
}

/** The groups of options of commands that have many. */
const OPTIONS: Readonly<Record<string, typeof DEPLOYMENT_OPTIONS>> = {
  deploy: DEPLOYMENT_OPTIONS,
  preview: DEPLOYMENT_OPTIONS,
  redeploy: DEPLOYMENT_OPTIONS,
}

const GROUPS: Readonly<Record<string, readonly string[]>> = { ...COMMANDS, ...DEPLOYMENT_OPTIONS }
/** Those of Commander come last. */
const HEADINGS = Object.keys(GROUPS)

const getRank = (list: readonly string[], one: string) => (list.includes(one) ? list.indexOf(one) : list.length)
const getTitle = (item: Command | Option) => ('long' in item ? (item.long ?? '') : item.name())

/** Changes of the help of Commander. Subcommands inherit them. */
export const HELP: Partial<Help> = {
  groupItems<T extends Command | Option>(_all: T[], visible: T[], getGroup: (item: T) => string): Map<string, T[]> {
    const groups = [...new Set(visible.map(getGroup))].sort((a, b) => getRank(HEADINGS, a) - getRank(HEADINGS, b))
    const select = (group: string) => {
      const items = visible.filter((item) => getGroup(item) === group)
      const names = GROUPS[group] ?? []
      return items.sort((a, b) => getRank(names, getTitle(a)) - getRank(names, getTitle(b)))
    }
    return new Map(groups.map((group) => [group, select(group)]))
  },
  // Without the alias, which is the singular of a noun.
  subcommandTerm: (command) => [command.name(), ...command.registeredArguments.map(formatArgument)].join(' '),
  commandUsage: (command) => `slipway ${[...getPath(command), command.usage()].join(' ')}`,
  optionDescription: (option) => `${describeOption(option)}${option.mandatory ? ' (required)' : ''}`,
}

function formatArgument(argument: Argument): string {
  const text = `${argument.name()}${argument.variadic ? '...' : ''}`
  return argument.required ? `<${text}>` : `[${text}]`
}

function describeOption({ description, argChoices, defaultValue }: Option): string {
  const facts = [
    ...(argChoices === undefined ? [] : [argChoices.join(', ')]),
    ...(defaultValue === undefined || typeof defaultValue === 'boolean' ? [] : [`default: ${defaultValue}`]),
  ]
  return facts.length === 0 ? description : `${description} (${facts.join('; ')})`
}

/** Adds groups, examples and the footer to all commands, when all have been added. */
export function completeHelp(program: Command, io: Io): void {
  for (const [heading, names] of Object.entries(COMMANDS))
    for (const name of names) findCommand(program, name)?.helpGroup(heading)
  for (const [name, groups] of Object.entries(OPTIONS))
    for (const option of findCommand(program, name)?.options ?? []) {
      const [heading] = Object.entries(groups).find(([, flags]) => flags.includes(option.long ?? '')) ?? []
      if (heading !== undefined) option.helpGroup(heading)
    }
  addFooter(program, program, io)
}

function addFooter(command: Command, program: Command, io: Io): void {
  // The options of the program are read before the help is printed.
  command.addHelpText('after', () => formatFooter(command, program, io))
  for (const child of command.commands) addFooter(child, program, io)
}

function formatFooter(command: Command, program: Command, io: Io): string {
  const path = getPath(command)
  const lists = path.length === 1 && findCommand(command, LIST_VERB) !== undefined
  return [
    ...(lists ? ['', `\`slipway ${path.join(' ')}\` alone lists, with the options of \`list\`.`] : []),
    '',
    'Examples:',
    ...(EXAMPLES[path.join(' ')] ?? []).map((example) => `  ${example}`),
    '',
    ...(path.length === 0
      ? [ABOUT, '']
      : ['Options of every command (`slipway --help`): -o, --select, --url, --context …']),
    `Documentation: ${describeDocumentation(program, io)}`,
  ].join('\n')
}

function describeDocumentation(program: Command, io: Io): string {
  const url = findConfiguredUrl(io, program)
  return url === undefined ? 'the path /docs of your server' : `${url}/docs`
}

const ABOUT = `Exit codes: 0 success, 1 failed, 2 wrong usage, 3 refused (freeze, validation,
permission), 4 cancelled, 5 --timeout or the access of a pipeline is over, 6 the
server cannot be reached, 7 blocked now, 130 stopped watching.
Settings: SLIPWAY_URL or SLIPWAY_CONTEXT; SLIPWAY_TOKEN, SLIPWAY_API_KEY or
SLIPWAY_SERVICE_ACCOUNT (with SLIPWAY_ID_TOKEN and SLIPWAY_TOKEN_AUDIENCE);
SLIPWAY_CA_FILE, HTTPS_PROXY, NO_PROXY, NO_COLOR.`

/** Adds `slipway help`. Commander's own takes one word. */
export function addHelp(program: Command): void {
  program
    .helpCommand(false)
    .command('help')
    .argument('[command...]', 'words of the command')
    .description('show the help of a command')
    .action((words: string[]) => showHelp(program, words))
}

function showHelp(program: Command, words: readonly string[]): void {
  let command = program
  for (const word of words) {
    const child = findCommand(command, word)
    if (child === undefined) refuseUnknownCommand(command, word, words.slice(words.indexOf(word) + 1))
    command = child
  }
  command.outputHelp()
}
