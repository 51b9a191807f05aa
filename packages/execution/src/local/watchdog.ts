import { type ChildProcess, spawn } from 'node:child_process'
import type { Lifeline } from '../lifeline.ts'
import type { UserProcesses } from './local-user.ts'

/**
 * Reads which process groups exist (`+ 123`), which are gone (`- 123`), and for how many seconds from now they may live
 * (`= 20`). It kills the groups that remain at the end of its input: the instance has died. It also kills them when no
 * line came in time: the instance is frozen. Until a new time comes, it then kills every group that it reads. Signals
 * that end an instance must not end the watchdog first. The timer's signal interrupts `read`; that is not the end.
 * `$AS_USER` runs words as the user of the groups, where this process may not kill them (no CAP_KILL).
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
 * Sees to it that no command outlives the instance, however it dies, or its lifeline: one small process beside it,
 * started at need.
 */
export class Watchdog {
  readonly #lifeline: Lifeline
  readonly #asUser: string
  readonly #groups = new Set<number>()
  #process: ChildProcess | null = null
  #closed = false

  /** `owner` runs processes as the user of the groups, where that is not the user of this process. */
  constructor(lifeline: Lifeline, owner?: UserProcesses) {
    this.#lifeline = lifeline
    this.#asUser = owner?.shellPrefix ?? ''
    lifeline.onRenewed(() => {
      if (this.#process && this.#groups.size > 0) void this.#tell(this.#process, this.#time())
    })
  }

  /** Resolves once the group will be killed should the instance die or freeze. */
  guard(group: number): Promise<void> {
    this.#groups.add(group)
    const running = this.#process
    // One that is started now is told of all groups there are.
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
      // Killed by somebody: another takes its place.
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
    // A write that fails means that the process is gone: its end starts another, which is told everything.
    return new Promise((resolve) => {
      if (child.stdin) child.stdin.write(text, () => resolve())
      else resolve()
    })
  }
}
