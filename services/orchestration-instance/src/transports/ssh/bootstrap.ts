import { randomBytes } from 'node:crypto'
import { type Command, type CommandFile, INTERPRETER_CALLS } from '@slipway/execution'

/**
 * What runs on an ssh target around a command. It is sent whole, with environment and script, to the standard input of
 * a shell: nothing of it shows in the arguments of a process. Afterwards that input is the control line:
 *
 *     live N                      KILL after N seconds, unless there is another word before
 *     end N                       TERM to the command's process group, KILL to what is left of it after N seconds
 *     another word, end of file   KILL after a moment: the command is over, or the link or the instance is
 *
 * Where there are files, the shell asks for their content before it starts the command, and takes it from a folder.
 *
 * The command takes the place of the shell, so that the ssh server itself reports how it ended. On both output streams
 * a mark stands before the command's own output and one behind it, so that nobody need wait for the streams to close: a
 * daemon may keep them open.
 */
export interface Bootstrap {
  input: string
  /** The marks, as lines. */
  ready: string
  over: string
  /** On standard output before `ready` where there are files: the folder follows, for their content by place in the list. */
  wants: string
  /** On standard output instead of `ready` when the command cannot start: a BootstrapProblem follows. */
  failed: string
}

export type BootstrapProblem =
  | 'group'
  | 'directory'
  | 'interpreter'
  | 'working-directory'
  | 'files'
  | `file ${number} ${FileProblem}`
export type FileProblem = 'tool' | 'damaged' | 'place'

/**
 * What reads the bootstrap, in words that any login shell understands. It shall lead a process group of its own: OpenSSH
 * gives each session one. Where it finds that it does not (`failed group`), setsid makes one, without changing the process
 * id. That is asked for only there, since each program on the way to the command costs as much as a small command.
 */
export const BOOTSTRAP_COMMANDS = { plain: 'exec sh -s', ownGroup: 'exec setsid sh -s' } as const

/**
 * Reads the control line. $1 is the process group, $2 the command's directory, $3 the mark for the end of the output
 * (to descriptors 4 and 5), $4 a dash where the guard is outside the group, $5 for how many seconds the command may live
 * unless there is another word. Outside the group, the pin keeps the group's number from becoming another's until the
 * guard closes its output or is gone. The pause at the end lets a daemon that the command's
 * last line started leave the group.
 */
const GUARD = `
trap "" HUP INT PIPE TERM
naps= timer=
trap "kill -KILL \\"\\$4\\$1\\"; timer=" USR1
watch_time() {
  before=$!
  trap "[ \\"\\$!\\" = \\"\\$before\\" ] || kill -KILL \\"\\$!\\"; exit" USR2
  sleep "$2" &
  wait "$!" && kill -USR1 "$1"
}
stop_timer() { [ -z "$timer" ] || kill -USR2 "$timer"; timer=; }
start_timer() { watch_time $$ "$1" 4>&- 5>&- >/dev/null </dev/null & timer=$!; }
[ -z "$5" ] || start_timer "$5"
while read -r word seconds; do
  stop_timer
  [ "$word" != live ] || { start_timer "$seconds"; continue; }
  [ "$word" = end ] || break
  kill -TERM "-$1"
  exec >&-
  nap=1 naps=$seconds
  if sleep 0.1; then nap=0.1 naps=$((seconds * 10)); fi
  while [ "$naps" -gt 0 ] && kill -0 "$4$1"; do sleep "$nap"; naps=$((naps - 1)); done
  kill -KILL "$4$1"
  break
done
stop_timer
echo "$3" >&4
echo "$3" >&5
exec 4>&- 5>&- <&-
[ "$naps" ] || sleep 0.3 || sleep 1
[ "$4" ] || rm -rf -- "$2"
kill -KILL "-$1"
exec rm -rf -- "$2"
`

/**
 * Verifies the content of file number $1 by its SHA-256 $2 and moves it, with the permissions $3, to its place $4. That
 * may be on another disk, so it takes two moves to let it appear there as a whole.
 */
const PLACE = `
slipway_sha256() {
  if command -v sha256sum >/dev/null 2>&1; then sha256sum
  elif command -v shasum >/dev/null 2>&1; then shasum -a 256
  elif command -v openssl >/dev/null 2>&1; then openssl dgst -sha256 -r
  else return 1
  fi
}
slipway_place() {
  slipway_sum=$(slipway_sha256 <"$slipway_dir/files/$1") || slipway_fail "file $1 tool"
  case "$slipway_sum" in
    "$2"*) ;;
    *) slipway_fail "file $1 damaged" ;;
  esac
  slipway_draft="\${4%/*}/.slipway-$$"
  {
    mkdir -p "\${4%/*}" && mv -f "$slipway_dir/files/$1" "$slipway_draft" &&
    chmod "$3" "$slipway_draft" && [ ! -d "$4" ] && mv -f "$slipway_draft" "$4"
  } 2>/dev/null || { rm -f "$slipway_draft"; slipway_fail "file $1 place"; }
}
`

/** Asks for the content of files, which comes by SFTP, and goes on at the word "sent". */
function takeFiles(files: readonly CommandFile[], wants: string): string {
  const places = files.map(({ content, mode, path }, index) => {
    return `  slipway_place ${index} ${content} ${mode} ${quoted(`./${path}`)}`
  })
  return `  ( umask 077; mkdir "$slipway_dir/files" ) || slipway_fail directory
  echo "${wants} $slipway_dir/files"
  read -r slipway_word && [ "$slipway_word" = sent ] || slipway_fail files
${places.join('\n')}
  rm -rf -- "$slipway_dir/files"
`
}

/** The input for BOOTSTRAP_COMMAND that runs the command. Without a `live` it is killed after `secondsLeft`. */
export function bootstrapOf(command: Command, secondsLeft: number | null): Bootstrap {
  const nonce = randomBytes(16).toString('hex')
  const [ready, over, wants, failed] = ['ready', 'over', 'wants', 'failed'].map(
    (word) => `slipway-${nonce} ${word}`,
  ) as [string, string, string, string]
  const live = secondsLeft ?? `''`
  const { file, args } = INTERPRETER_CALLS[command.interpreter]
  const script = `"$slipway_dir/${file}"`
  const call = [command.interpreter, ...args.map((arg) => (arg === '{}' ? script : arg))].join(' ')
  const exports = Object.entries(command.environment).map(([name, value]) => `  export ${name}=${quoted(value)}`)
  const take = command.files.length === 0 ? '' : takeFiles(command.files, wants)
  const place = command.files.length === 0 ? '' : PLACE
  // All within functions: a shell that got only a part of it runs nothing.
  const input = `
slipway_fail() {
  [ -z "$slipway_dir" ] || rm -rf -- "$slipway_dir"
  echo "${failed} $1"
  exit 125
}
slipway_guard() {
  trap '' HUP INT TERM
  if command -v setsid >/dev/null 2>&1; then
    setsid sh -c '${GUARD}' sh $$ "$slipway_dir" "${over}" - ${live} <&3 | slipway_pin &
  else
    sh -c '${GUARD}' sh $$ "$slipway_dir" "${over}" '' ${live} <&3 &
  fi
}
${place}slipway_pin() {
  exec 3<&- 4>&- 5>&-
  read -r slipway_word
}
slipway_run() {
  read -r slipway_pid slipway_name slipway_state slipway_parent slipway_group slipway_rest 2>/dev/null </proc/$$/stat
  case "$slipway_group" in
    "" | $$) ;;
    *) if command -v setsid >/dev/null 2>&1; then slipway_fail group; fi ;;
  esac
  umask 077
  command -v ${command.interpreter} >/dev/null 2>&1 || slipway_fail interpreter
  slipway_dir="\${TMPDIR:-/tmp}/slipway.${randomBytes(16).toString('hex')}"
  mkdir "$slipway_dir" "$slipway_dir/work" || slipway_fail directory
  slipway_script=${quoted(command.script)}
  # Not where it is a program: then the script would show in its arguments.
  PATH=/dev/null printf '%s\\n' "$slipway_script" >${script} 2>/dev/null || cat >${script} <<${nonce} || slipway_fail directory
$slipway_script
${nonce}
  cd "$slipway_dir/work" || slipway_fail directory
${enter(command.workingDirectory)}
  umask 022
${take}  exec 3<&0 </dev/null
  ( slipway_guard 4>&1 5>&2 >/dev/null 2>&1 )
  exec 3<&-
${exports.join('\n')}
  echo "${ready}"
  echo "${ready}" >&2
  exec ${call}
}
slipway_run
`
  return { input, ready, over, wants, failed }
}

function enter(workingDirectory: string | null): string {
  if (workingDirectory === null) return ''
  const make = workingDirectory.startsWith('/') ? '' : `mkdir -p -- ${quoted(workingDirectory)} && `
  return `  { ${make}cd -- ${quoted(workingDirectory)}; } 2>/dev/null || slipway_fail working-directory`
}

function quoted(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`
}
