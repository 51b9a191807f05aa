/** What the command line uses of its process. Only executable.ts reads the process, so tests run commands in their own one. */
export interface Io {
  stdin: InputStream
  stdout: OutputStream
  stderr: OutputStream
  env: Readonly<Record<string, string | undefined>>
  /** The home folder of the user. */
  home: string
  /** Calls the listener at Ctrl-C, and when a pipeline ends the job. Returns a function that removes the listener. */
  onInterrupt: (listener: () => void) => () => void
  /** Waits before the next poll. Rejects when the signal aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<unknown>
  /** Opens the address in the browser of the user. Rejects if no program can be started for it. */
  openBrowser: (address: string) => Promise<unknown>
  /** How long to repeat a call that gets no answer. */
  retryForMs: number
}

export type InputStream = NodeJS.ReadableStream & { isTTY?: boolean }
export type OutputStream = NodeJS.WritableStream & { isTTY?: boolean; columns?: number; rows?: number }
