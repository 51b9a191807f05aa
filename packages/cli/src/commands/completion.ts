import { Argument } from 'commander'
import { type CompletedKind, listKnownNames } from './completion-names.ts'
import { type CompletionPlace, findPlace, getOptions, readWords } from './completion-words.ts'
import type { RootCommand } from './root.ts'

/** The shell calls `slipway complete` at each press of Tab, so completions always match the commands. */
const SCRIPTS = {
  // Bash also splits words at `=`, `:` and `@`, so this joins what has no space between. It replaces the last part alone.
  bash: `_slipway() {
  local offer rest=\${COMP_LINE:0:COMP_POINT} trimmed part i
  local -a words
  words=()
  COMPREPLY=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    trimmed=\${rest#"\${rest%%[![:space:]]*}"}
    part=$trimmed
    ((i == COMP_CWORD)) || part=\${COMP_WORDS[i]}
    if ((i > 0)) && [[ $trimmed == "$rest" ]]; then words[\${#words[@]}-1]+=$part; else words+=("$part"); fi
    rest=\${trimmed#"$part"}
  done
  while IFS= read -r offer; do
    COMPREPLY+=("$offer")
    # Readline quotes what it takes for file names.
    [[ $offer != *[!A-Za-z0-9_.:=@%+,-]* ]] || compopt -o filenames 2>/dev/null || true
  done < <(slipway complete "--part=$part" -- "\${words[@]:1}" 2>/dev/null)
}
complete -o default -F _slipway slipway
`,
  // Works by eval in a start-up file, and as a file _slipway in a folder of fpath, which zsh runs at the first press of Tab.
  zsh: `#compdef slipway
_slipway() {
  local -a offered
  offered=("\${(@f)$(slipway complete -- "\${(@)words[2,CURRENT-1]}" "$QIPREFIX$PREFIX" 2>/dev/null)}")
  if [[ -n "$offered" ]]; then compadd -a offered; else _files; fi
}
if [[ "\${funcstack[1]}" == _slipway ]]; then
  _slipway "$@"
else
  (( \${+functions[compdef]} )) || { autoload -Uz compinit && compinit; }
  compdef _slipway slipway
fi
`,
  fish: `function __slipway_complete
  set -l offers (slipway complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
  if set -q offers[1]
    printf '%s\\n' $offers
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c slipway -e
complete -c slipway -f -a '(__slipway_complete)'
`,
}

export function addCompletion(program: RootCommand): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .description('print a script that completes slipway in a shell: eval "$(slipway completion bash)"')
    .action((shell: keyof typeof SCRIPTS) => {
      program.io.stdout.write(SCRIPTS[shell])
    })
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .option('--part <text>')
    .action(async (words: string[], { part }: { part?: string }) => {
      for (const offer of await listCompletions(program, words, part)) program.io.stdout.write(`${offer}\n`)
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
  'service-account': 'service-account',
  account: 'service-account',
  'triggered-by': 'user',
  deployment: 'deployment',
  request: 'request',
  tag: 'tag',
  context: 'context',
  webhook: 'webhook',
  key: 'key',
  sha256: 'content',
  event: 'event',
  permission: 'permission',
  scope: 'permission',
  'approver-role': 'role',
  promotion: 'environment',
}

/** Lists the possible replacements of the last word, or of its last part, if the shell replaces that alone. */
export async function listCompletions(program: RootCommand, raw: readonly string[], part?: string): Promise<string[]> {
  const { words, kept } = readWords(raw[0] === 'help' ? raw.slice(1) : raw, part)
  const place = findPlace(program, words)
  const offers = [...listOffers(place), ...(await listNames(program, place))]
  return offers
    .filter((offer) => offer.startsWith(place.prefix))
    .map((offer) => (place.before + offer).slice(kept.length))
    .sort()
}

/** Lists what the commands themselves say: subcommands, options and choices. */
function listOffers({ command, option, argument, prefix }: CompletionPlace): readonly string[] {
  if (option !== undefined) return option.argChoices ?? []
  if (prefix.startsWith('-')) return getOptions(command).flatMap(({ long, hidden }) => (long && !hidden ? [long] : []))
  const visible = command.createHelp().visibleCommands(command)
  return [...visible.map((one) => one.name()), ...(argument?.argChoices ?? [])]
}

/** Lists what the server and this machine know. A shell must not show errors, so there are no names after a failure. */
async function listNames(
  program: RootCommand,
  { command, option, argument, prefix, globals }: CompletionPlace,
): Promise<string[]> {
  // The actions of the audit log are not those that deployments run, and the environments of a trust are those of its platform.
  if (option?.long === '--action' && command.name() === 'audit') return []
  if (option?.long === '--environment' && command.parent?.name() === 'trusts') return []
  const kind = option === undefined ? KINDS[argument?.name() ?? ''] : KINDS[option.long?.slice(2) ?? '']
  if (kind === undefined || (option === undefined && prefix.startsWith('-'))) return []
  try {
    for (const [name, value] of Object.entries(globals)) program.setOptionValue(name, value)
    return await listKnownNames(program, kind, prefix)
  } catch {
    return []
  }
}
