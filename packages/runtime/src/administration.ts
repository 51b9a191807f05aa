import { sleep } from './timing.ts'

/** A server may be starting at the same time: attempts go on for two minutes. */
const TRIES = 60
const BETWEEN_MS = 2_000

/** The usage of a program for administrators, and its subcommands by name. */
export interface Administration {
  usage: string
  commands: Record<string, () => Promise<void> | void>
}

/** Runs the subcommand that the first argument names. Prints the usage if there is none, and the message of an error. */
export async function runAdministration(
  { usage, commands }: Administration,
  name = process.argv[2] ?? '',
): Promise<void> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) {
    process.stderr.write(usage)
    process.exitCode = 2
    return
  }
  try {
    await command()
  } catch (error) {
    const { message } = error as Error
    process.stderr.write(`${message || String(error)}\n`)
    process.exitCode = 1
  }
}

/** An environment variable that is not empty. */
export const optionalSetting = (name: string): string | undefined => process.env[name] || undefined

/** @throws Error with the usage if the variable is not set */
export function requiredSetting(name: string, usage: string): string {
  const value = optionalSetting(name)
  if (value === undefined) throw new Error(`${name} is not set\n\n${usage}`)
  return value
}

/** Repeats work on a server that may not be there yet. An error for which `isFinal` is true ends it. */
export async function onceReachable<T>(work: () => Promise<T>, isFinal: (error: unknown) => boolean): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (isFinal(error) || attempt === TRIES) throw error
      await sleep(BETWEEN_MS)
    }
  }
}
