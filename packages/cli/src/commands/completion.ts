import { Argument, type Command } from 'commander'

/** The shell calls `slipway complete` at each press of Tab, so completions always match the commands. */
const SCRIPTS = {
  bash: `_slipway() {
  local IFS=$'\\n'
  COMPREPLY=($(slipway complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
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
    .action((words: string[]) => {
      for (const offer of listCompletions(program, words)) process.stdout.write(`${offer}\n`)
    })
}

/** Lists the possible replacements of the last word. */
export function listCompletions(program: Command, words: readonly string[]): string[] {
  const prefix = words.at(-1) ?? ''
  let command = program
  let optionBefore: string | undefined
  for (const word of words.slice(0, -1)) {
    optionBefore = undefined
    if (word.startsWith('-')) {
      const option = getOptions(command).find(({ long, short }) => word === long || word === short)
      if (option?.required) optionBefore = word
    } else command = command.commands.find((one) => getNames(one).includes(word)) ?? command
  }
  const selectMatching = (all: readonly string[]) => all.filter((one) => one.startsWith(prefix)).sort()
  if (optionBefore !== undefined) {
    const option = getOptions(command).find(({ long, short }) => optionBefore === long || optionBefore === short)
    return selectMatching(option?.argChoices ?? [])
  }
  if (prefix.startsWith('-'))
    return selectMatching(getOptions(command).flatMap(({ long, hidden }) => (long && !hidden ? [long] : [])))
  const visible = command.createHelp().visibleCommands(command)
  const choices = command.registeredArguments[0]?.argChoices ?? []
  return selectMatching([...visible.flatMap(getNames), ...choices])
}

const getNames = (command: Command) => [command.name(), ...command.aliases()]

/** Returns the options of the command and of its parents, with --help. */
function getOptions(command: Command) {
  const help = command.createHelp()
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)]
}
