import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { UsageError } from '../exit-code.ts'

/** Whether there is somebody to ask. */
const somebody = () => process.stdin.isTTY === true && process.stderr.isTTY === true

/** Asks on the terminal; a pipeline is never asked, it is told which option answers. */
export async function ask(question: string, { hidden = false, instead }: { hidden?: boolean; instead: string }) {
  if (!somebody()) throw new UsageError(`there is no terminal to ask for ${question}: ${instead}`)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: hidden ? silent : process.stderr, terminal: true })
  // Only now: the terminal echoes nothing by itself any more.
  process.stderr.write(`${question}: `)
  return await new Promise<string>((resolve, reject) => {
    lines.once('SIGINT', () => {
      lines.close()
      reject(new UsageError('nothing was answered'))
    })
    lines.once('line', (line) => {
      if (hidden) process.stderr.write('\n')
      lines.close()
      resolve(line.trim())
    })
  })
}

/** The first line of stdin, for secrets that must not stand among the arguments. */
export async function firstLineOfStdin(): Promise<string> {
  const lines = createInterface({ input: process.stdin })
  for await (const line of lines) return line
  throw new UsageError('stdin is empty: there should be a line to read')
}
