import { createHash, randomBytes } from 'node:crypto'
import type { LoginCode } from '@slipway/client'
import type { Io } from '../io.ts'
import { ask, hasTerminal } from '../terminal/prompt.ts'
import { listenForCode, readCode } from './loopback.ts'

const SECRET_BYTES = 32

interface BrowserLogin {
  /** The address that begins a login with the chosen provider. */
  start: string
  /** Whether to only print the address. */
  noBrowser: boolean
  /** Ends the waiting. */
  signal: AbortSignal
}

/** Lets a person log in with a browser. Resolves to the code that the login ends with. */
export async function logInWithBrowser(io: Io, { start, noBrowser, signal }: BrowserLogin): Promise<LoginCode> {
  const [state, verifier] = [createSecret(), createSecret()]
  const loopback = await listenForCode(state)
  const done = new AbortController()
  try {
    const address = buildAddress(start, { port: loopback.port, state, verifier })
    const isOpen = !noBrowser && (await openBrowser(io, address))
    const sentence = isOpen
      ? 'go on in the browser; if none opens, open this address'
      : 'open this address in a browser'
    io.stderr.write(`${sentence}:\n\n  ${address}\n\n`)
    const ends = [loopback.code, rejectOnAbort(signal)]
    // A browser on another machine cannot reach this one. Its address bar has the code.
    if (!isOpen && hasTerminal(io)) ends.push(readPastedCode(io, state, done.signal))
    return { code: await Promise.race(ends), verifier }
  } finally {
    done.abort()
    loopback.close()
  }
}

const createSecret = () => randomBytes(SECRET_BYTES).toString('base64url')

function buildAddress(start: string, { port, state, verifier }: { port: number; state: string; verifier: string }) {
  const address = new URL(start)
  address.searchParams.set('cli_port', String(port))
  address.searchParams.set('code_challenge', createHash('sha256').update(verifier).digest('base64url'))
  address.searchParams.set('state', state)
  return address.href
}

async function openBrowser(io: Io, address: string): Promise<boolean> {
  try {
    await io.openBrowser(address)
    return true
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    io.stderr.write(`no browser can be opened here (${reason})\n`)
    return false
  }
}

const rejectOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })

async function readPastedCode(io: Io, state: string, signal: AbortSignal): Promise<string> {
  for (;;) {
    const question = 'if the browser cannot show its last page, paste the address of that page here'
    const text = await ask(io, question, { instead: 'log in with a browser on this machine', signal })
    const code = URL.canParse(text) ? readCode(new URL(text), state) : undefined
    if (code !== undefined) return code
    io.stderr.write('this login did not end at this address\n')
  }
}
