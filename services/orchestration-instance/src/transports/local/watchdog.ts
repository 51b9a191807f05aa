import { type ChildProcess, spawn } from 'node:child_process'

/**
 * Reads which process groups exist (`+ 123`) and which are gone (`- 123`); when nothing can come any more, because the
 * instance has died, kills those that remain. Signals that end an instance must not end it first.
 */
const SCRIPT = `
trap '' HUP INT TERM
groups=' '
while read -r change group; do
  case $change in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
for group in $groups; do kill -KILL "-$group"; done 2>/dev/null
`

const RESTART_MS = 100

/** Sees to it that no command outlives the instance, however it dies: one small process beside it, started at need. */
export class Watchdog {
  readonly #groups = new Set<number>()
  #process: ChildProcess | null = null
  #closed = false

  /** Resolves once the group will be killed should the instance die. */
  guard(group: number): Promise<void> {
    this.#groups.add(group)
    const running = this.#process
    // One that is started now is told of all groups there are.
    return running ? this.#tell(running, `+ ${group}\n`) : this.#start()
  }

  release(group: number): void {
    this.#groups.delete(group)
    if (this.#process) void this.#tell(this.#process, `- ${group}\n`)
  }

  close(): void {
    this.#closed = true
    this.#process?.stdin?.end()
  }

  #start(): Promise<void> {
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'slipway-watchdog'], {
      cwd: '/',
      detached: true,
      env: {},
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    this.#process = child
    const gone = () => {
      if (this.#process !== child) return
      this.#process = null
      // Killed by somebody: another takes its place.
      setTimeout(() => {
        if (this.#groups.size > 0 && !this.#process && !this.#closed) void this.#start()
      }, RESTART_MS).unref()
    }
    child.on('error', gone).on('exit', gone)
    child.stdin.on('error', () => {})
    child.unref()
    return this.#tell(child, [...this.#groups].map((group) => `+ ${group}\n`).join(''))
  }

  #tell(child: ChildProcess, text: string): Promise<void> {
    // A write that fails means that the process is gone: its end starts another, which is told everything.
    return new Promise((resolve) => {
      if (child.stdin) child.stdin.write(text, () => resolve())
      else resolve()
    })
  }
}
