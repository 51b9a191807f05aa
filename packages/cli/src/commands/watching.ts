import type { Command } from 'commander'
import { type Context, provideContext } from './context.ts'
import { runUntilInterrupted } from './wait.ts'

const POLL_MS = 2_000
const CLEAR = '\x1b[H\x1b[2J\x1b[3J'

interface WatchOptions {
  watch?: boolean
}

/** Sets the action of a command that lists records, and adds `--watch`: list again whenever the list has changed. */
export function addListAction<A extends unknown[]>(
  command: Command,
  body: (context: Context, ...args: A) => Promise<number | undefined> | Promise<void>,
): Command {
  return command.option('--watch', 'list again whenever the list has changed, until Ctrl-C').action(
    provideContext(async (context: Context, ...args: A) => {
      const { watch } = (args.at(-1) ?? {}) as WatchOptions
      return watch ? await watchList(context, body, args) : ((await body(context, ...args)) ?? undefined)
    }),
  )
}

async function watchList<A extends unknown[]>(
  context: Context,
  body: (context: Context, ...args: A) => Promise<unknown>,
  args: A,
): Promise<never> {
  const { io } = context
  let shown: string | undefined
  return await runUntilInterrupted(io, undefined, async (signal) => {
    for (;;) {
      let text = ''
      const output = context.output.writingTo((part) => {
        text += part
      })
      await body({ ...context, output }, ...args)
      if (text !== shown) io.stdout.write(io.stdout.isTTY ? `${CLEAR}${text}` : text)
      shown = text
      await io.sleep(POLL_MS, signal)
    }
  })
}
