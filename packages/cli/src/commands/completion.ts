import { Argument, type Command } from 'commander'
import { type CompletedKind, listServerNames } from './completion-names.ts'
import { findPlace, getNames, getOptions, type Place, readWords } from './completion-words.ts'

/** The shell calls `slipway complete` at each press of Tab, so completions always match the commands. */
const SCRIPTS = {
  bash: `_slipway() {
  local offer
  COMPREPLY=()
  while IFS= read -r offer; do
    COMPREPLY+=("$offer")
    # Readline quotes what it takes for file names.
    [[ $offer != *[!A-Za-z0-9_.:=@%+,-]* ]] || compopt -o filenames 2>/dev/null || true
  done < <(slipway complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _slipway slipway
`,
  zsh: `#compdef slipway
_slipway() {
  local -a offered
  offered=("\${(@f)$(slipway complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  [[ -n "$offered" ]] && compadd -- "\${offered[@]}" || _files
}
compdef _slipway slipway
`,
  fish: `complete -c slipway -a '(slipway complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
}

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .description('print a script that completes slipway in a shell: eval "$(slipway completion bash)"')
    .action((shell: keyof typeof SCRIPTS) => {
      process.stdout.write(SCRIPTS[shell])
    })
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .action(async (words: string[]) => {
      for (const offer of await listCompletions(program, words)) process.stdout.write(`${offer}\n`)
    })
}

/** What an argument or an option means, by its name. */
const KINDS: Readonly<Record<string, CompletedKind>> = {
  source: 'source',
  target: 'target',
  environment: 'environment',
  tenant: 'tenant',
  action: 'action',
  sequence: 'sequence',
  solution: 'solution',
  freeze: 'freeze',
  instance: 'instance',
  role: 'role',
  user: 'user',
  'triggered-by': 'user',
  deployment: 'deployment',
  request: 'request',
  tag: 'tag',
}

/** Lists the possible replacements of the last word. */
export async function listCompletions(program: Command, raw: readonly string[]): Promise<string[]> {
  const { words, kept } = readWords(raw)
  const place = findPlace(program, words)
  const offers = [...listOffers(place), ...(await listNames(program, place))]
  return offers
    .filter((offer) => offer.startsWith(place.prefix))
    .map((offer) => (place.before + offer).slice(kept.length))
    .sort()
}

/** Lists what the commands themselves say: subcommands, options and choices. */
function listOffers({ command, option, argument, prefix }: Place): readonly string[] {
  if (option !== undefined) return option.argChoices ?? []
  if (prefix.startsWith('-')) return getOptions(command).flatMap(({ long, hidden }) => (long && !hidden ? [long] : []))
  const visible = command.createHelp().visibleCommands(command)
  return [...visible.flatMap(getNames), ...(argument?.argChoices ?? [])]
}

/** Lists what the server knows. A shell must not show errors, so there are no names after a failure. */
async function listNames(program: Command, { command, option, argument, prefix, globals }: Place): Promise<string[]> {
  // The actions of the audit log are not those that deployments run.
  if (option?.long === '--action' && command.name() === 'audit') return []
  const kind = option === undefined ? KINDS[argument?.name() ?? ''] : KINDS[option.long?.slice(2) ?? '']
  if (kind === undefined || (option === undefined && prefix.startsWith('-'))) return []
  try {
    for (const [name, value] of Object.entries(globals)) program.setOptionValue(name, value)
    return await listServerNames(program, kind, prefix)
  } catch {
    return []
  }
}
