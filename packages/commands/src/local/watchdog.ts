import { type ChildProcess, spawn } from 'node:child_process'
import type { Lifeline } from '../lifeline.ts'
import type { UserProcesses } from './local-user.ts'

/**
 * Reads new process groups (`+ 123`), ended groups (`- 123`), and the number of seconds that commands may still run (`= 20`).
 * At the end of the input the instance has died, and the script kills the remaining groups. If the seconds pass without a new
 * `=` line, the instance hangs. Then the script kills all groups, and each new group until the next `=` line. The script
 * ignores signals that end an instance. The signal of the timer interrupts `read`; this is not the end of the input.
 * `$AS_USER` runs words as the user of the groups, because this process may lack CAP_KILL.
 */
const SCRIPT = `
trap '' HUP INT TERM
groups=' ' timer= late= woken=
kill_group() { kill -KILL "-$1" || [ -z "$AS_USER" ] || $AS_USER /bin/sh -c 'kill -s KILL -- "-$0"' "$1"; }
kill_all() { for each in $groups; do kill_group "$each"; done; }
trap 'late=1 woken=1; kill_all' USR1
watch_time() {
  nap=
  trap '[ -z "$nap" ] || kill -KILL "$nap"; exit' USR2
  sleep "$1" & nap=$!
  wait "$nap" && kill -USR1 $$
}
stop_timer() { [ -z "$timer" ] || kill -USR2 "$timer"; timer=; }
while :; do
  woken=
  read -r change value || { [ "$woken" ] && continue; break; }
  case $change in
    +) groups="$groups$value "; [ -z "$late" ] || kill_group "$value" ;;
    -) case $groups in *" $value "*) groups="\${groups%% $value *} \${groups#* $value }" ;; esac ;;
    =) stop_timer; late=; watch_time "$value" & timer=$! ;;
  esac
done 2>/dev/null
stop_timer 2>/dev/null
kill_all 2>/dev/null
`

const RESTART_MS = 100

/**
 * Kills commands if the instance dies or its lifeline ends. The watchdog is a separate small process that starts with the first
 * command.
 */
export class Watchdog {
  readonly #lifeline: Lifeline
  readonly #asUser: string
  readonly #groups = new Set<number>()
  #process: ChildProcess | null = null
  #closed = false

  /** `owner` runs processes as the user of the groups, if that is another user. */
  constructor(lifeline: Lifeline, owner?: UserProcesses) {
    this.#lifeline = lifeline
    this.#asUser = owner?.shellPrefix ?? ''
    lifeline.onRenewed(() => {
      if (this.#process && this.#groups.size > 0) void this.#tell(this.#process, this.#time())
    })
  }

  /** When this resolves, the watchdog will kill the group if the instance dies or hangs. */
  guard(group: number): Promise<void> {
    this.#groups.add(group)
    const running = this.#process
    // A new process receives all groups at its start.
    return running ? this.#tell(running, `${this.#time()}+ ${group}\n`) : this.#start()
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
      env: { AS_USER: this.#asUser },
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    this.#process = child
    const gone = () => {
      if (this.#process !== child) return
      this.#process = null
      // The process was killed from outside, so start another one.
      setTimeout(() => {
        if (this.#groups.size > 0 && !this.#process && !this.#closed) void this.#start()
      }, RESTART_MS).unref()
    }
    child.on('error', gone).on('exit', gone)
    child.stdin.on('error', () => {})
    child.unref()
    return this.#tell(child, [this.#time(), ...[...this.#groups].map((group) => `+ ${group}\n`)].join(''))
  }

  #time(): string {
    const seconds = this.#lifeline.secondsLeft
    return seconds === null ? '' : `= ${seconds}\n`
  }

  #tell(child: ChildProcess, text: string): Promise<void> {
    // A failed write means that the process has ended. Its `exit` event starts another one, which receives all groups.
    return new Promise((resolve) => {
      if (child.stdin) child.stdin.write(text, () => resolve())
      else resolve()
    })
  }
}
