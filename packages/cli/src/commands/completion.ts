import { Argument, type Command } from 'commander'

/** Asks this program at every press of Tab, so that what is offered is what there is. */
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
    .description('print what makes a shell complete slipway: eval "$(slipway completion bash)"')
    .action((shell: keyof typeof SCRIPTS) => {
      process.stdout.write(SCRIPTS[shell])
    })
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .action((words: string[]) => {
      for (const offer of offers(program, words)) process.stdout.write(`${offer}\n`)
    })
}

/** What may stand in place of the last word. */
export function offers(program: Command, words: readonly string[]): string[] {
  const begun = words.at(-1) ?? ''
  let command = program
  let optionBefore: string | undefined
  for (const word of words.slice(0, -1)) {
    optionBefore = undefined
    if (word.startsWith('-')) {
      const option = optionsOf(command).find(({ long, short }) => word === long || word === short)
      if (option?.required) optionBefore = word
    } else command = command.commands.find((one) => one.name() === word) ?? command
  }
  const fitting = (all: readonly string[]) => all.filter((one) => one.startsWith(begun)).sort()
  if (optionBefore !== undefined) {
    const option = optionsOf(command).find(({ long, short }) => optionBefore === long || optionBefore === short)
    return fitting(option?.argChoices ?? [])
  }
  if (begun.startsWith('-'))
    return fitting(optionsOf(command).flatMap(({ long, hidden }) => (long && !hidden ? [long] : [])))
  const visible = command.createHelp().visibleCommands(command)
  const choices = command.registeredArguments[0]?.argChoices ?? []
  return fitting([...visible.map((one) => one.name()), ...choices])
}

/** Those of the command and of all above it, with --help. */
function optionsOf(command: Command) {
  const help = command.createHelp()
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)]
}
