import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { RefusedError, UsageError } from '../exit-code.ts'
import type { Io } from '../io.ts'

/** Whether a person can answer questions. */
export const hasTerminal = ({ stdin, stderr }: Io) => stdin.isTTY === true && stderr.isTTY === true

/**
 * Asks on the terminal. Without a terminal it throws a UsageError that names the option to give. After the signal, it leaves the
 * terminal and never resolves.
 */
export async function ask(
  io: Io,
  question: string,
  { hidden = false, instead, signal }: { hidden?: boolean; instead: string; signal?: AbortSignal },
): Promise<string> {
  if (!hasTerminal(io)) throw new UsageError(`there is no terminal to ask for ${question}: ${instead}`)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const output = hidden ? silent : io.stderr
  const lines = createInterface({ input: io.stdin, output, terminal: true, ...(signal ? { signal } : {}) })
  // Write the question after createInterface, which turns off the echo of the terminal.
  io.stderr.write(`${question}: `)
  return await new Promise<string>((resolve, reject) => {
    lines.once('SIGINT', () => {
      lines.close()
      reject(new UsageError(`there is no answer for ${question}: ${instead}`))
    })
    lines.once('line', (line) => {
      if (hidden) io.stderr.write('\n')
      lines.close()
      resolve(line.trim())
    })
  })
}

/** Asks a question that y or yes confirms. Without a terminal it throws a UsageError that names the option to give. */
export async function confirm(io: Io, question: string, instead: string): Promise<boolean> {
  if (!hasTerminal(io)) throw new UsageError(`there is no terminal to ask "${question}": ${instead}`)
  return /^y(es)?$/i.test(await ask(io, `${question} [y/N]`, { instead }))
}

/** Reads the first line of stdin. Secrets come this way, because other users can see arguments. */
export async function readFirstLineOfStdin({ stdin }: Io): Promise<string> {
  const lines = createInterface({ input: stdin })
  for await (const line of lines) return line
  throw new UsageError('stdin is empty: write the secret to it as one line')
}

/** Asks before a change. Without a terminal, `--yes` is needed. */
export async function requireConsent(io: Io, action: string, { yes }: { yes: boolean }): Promise<void> {
  if (yes) return
  if (!(await confirm(io, `${action}?`, 'give --yes'))) throw new RefusedError('nothing was changed')
}
