import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'

/** Where this instance reads its token. Each attempt reads the token again, because Kubernetes renews the file. */
export interface JoinTokenSource {
  /** For error texts: `the file /run/join-token`. */
  readonly name: string
  /** Whether the source can have another token later. */
  readonly canChange: boolean
  /** Null while the source has no token. Throws when the source cannot be read. */
  read(): Promise<string | null>
}

const STANDARD_INPUT = '-'

export function joinTokenSource(setting: string, input: NodeJS.ReadableStream = process.stdin): JoinTokenSource {
  return setting === STANDARD_INPUT ? fromStandardInput(input) : fromFile(setting)
}

function fromFile(file: string): JoinTokenSource {
  return {
    name: `the file ${file}`,
    canChange: true,
    async read() {
      try {
        return tokenIn(await readFile(file, 'utf8'))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
        throw error
      }
    },
  }
}

function fromStandardInput(input: NodeJS.ReadableStream): JoinTokenSource {
  let given: Promise<string | null> | undefined
  return {
    name: 'standard input',
    canChange: false,
    read() {
      given ??= text(input).then(tokenIn)
      return given
    },
  }
}

const tokenIn = (content: string): string | null => content.trim() || null
