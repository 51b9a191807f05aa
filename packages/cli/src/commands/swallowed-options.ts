import type { Command, Option } from 'commander'
import { getOptions } from './completion-words.ts'

/**
 * Returns the option whose value was forgotten, and the option that would become its value: in `--override-freeze --wait`, Commander
 * takes `--wait` for the reason. Whoever means such a text writes `--reason=--wait`.
 */
export function findSwallowed(words: readonly string[], options: readonly Option[]): [string, string] | null {
  const find = (word: string | undefined) => options.find(({ long, short }) => word === long || word === short)
  for (let n = 0; n < words.length; n += 1) {
    const word = words[n] ?? ''
    if (word === '--') return null
    if (!find(word)?.required) continue
    const next = words[n + 1]
    if (next !== undefined && (find(next) || next === '--help' || next === '-h')) return [word, next]
    // The next word is its value.
    n += 1
  }
  return null
}

/** Makes a forgotten value wrong usage, in all commands. Otherwise a deployment passes a freeze with the reason "--wait". */
export function refuseSwallowedOptions(program: Command): void {
  program.hook('preAction', (_, used) => {
    const swallowed = findSwallowed(program.args, getOptions(used))
    if (swallowed === null) return
    const [option, value] = swallowed
    used.error(
      `error: option '${option}' needs a value, and ${value} is an option: give a value, or write ${option}=${value}`,
    )
  })
}
