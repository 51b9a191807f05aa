import { randomBytes } from 'node:crypto'
import { type Command, type CommandFile, INTERPRETER_CALLS, shellQuoted } from '@slipway/commands'

/**
 * Each connection to an ssh target has one shell that runs one command after another. The instance sends a program to the
 * standard input of SHELL_COMMAND, so scripts and values never appear in the arguments of a process. After the program, the
 * standard input carries control lines:
 *
 *     run REQUEST     run a command; the previous one has ended
 *     live N          send KILL after N seconds, unless another `live` arrives
 *     end             send TERM to the process group of the command
 *     kill            send KILL to the process group of the command
 *     end of file     send KILL and delete the folder: the connection or the instance is lost
 *
 * The guard process reads the control lines. The runner process starts each command and waits for its end. The command runs
 * in the foreground, because background processes of a shell ignore INT and QUIT. A command leads its own session (setsid),
 * and a file tells the guard the process id. Without setsid, or if the shell cannot determine the process id in advance, the
 * command shares the session of the shell, and the shell ends with its first command.
 *
 * A mark comes before and after the output of the command on both streams. So the instance need not wait until the streams
 * close: a daemon may keep them open.
 */
export const SHELL_COMMAND = 'exec sh -s'

/** A shell reads a control line byte by byte and its program in blocks. A longer request starts a new shell with a program. */
export const MAX_REQUEST = 32 * 1024

export interface Request {
  /** Shell code without a newline. */
  text: string
  /**
   * The first word of each line that the host writes about this command:
   *
   *     wants FOLDER        on standard output, before `ready`: the instance must copy the files there, named by their index
   *     ready               on both streams, before the output of the command
   *     failed PROBLEM      on standard output: the command cannot start
   *     over STATUS SIGNAL  on both streams, after the output of the command. Only on standard output: status, signal, "left N"
   *                         (if N processes of its group were killed, "?" for an unknown number) and "last" (if the shell
   *                         ends too)
   */
  mark: string
}

export type Problem = 'directory' | 'interpreter' | 'working-directory' | 'files' | `file ${number} ${FileProblem}`
export type FileProblem = 'tool' | 'damaged' | 'place'

/** A request that only prints the mark. */
export const echoOf = (mark: string) => `echo ${mark}`

export function requestOf(command: Command): Request {
  const mark = `slipway-${randomBytes(16).toString('hex')}`
  const { file, args, beside } = INTERPRETER_CALLS[command.interpreter]
  const script = `"$slipway_dir/${file}"`
  const call = [command.interpreter, ...args.map((arg) => (arg === '{}' ? script : arg))].join(' ')
  const exports = Object.entries(command.environment).map(([name, value]) => `${name}=${shellQuoted(value)}`)
  const settings = {
    mark,
    script: command.script,
    enter: `${beside ? writeBeside(beside) : ''}${enter(command.workingDirectory)}`,
    take: takeFiles(command.files),
  }
  const set = Object.entries(settings).map(([name, value]) => `slipway_${name}=${shellQuoted(value)}`)
  // A function avoids quoting the values twice, which would make the request longer.
  set.push(`slipway_exports() { ${exports.length > 0 ? `export ${exports.join(' ')}` : ':'}; }`)
  const text = `${set.join('; ')}; slipway_file=${script}; slipway_try ${call}`.replaceAll('\n', `'"$slipway_newline"'`)
  return { text, mark }
}

/** The program for SHELL_COMMAND, with the first request. Kills commands after `secondsLeft`, unless a `live` line arrives. */
export function programOf({ mark, text }: Request, secondsLeft: number | null): string {
  return `
slipway_mark=${mark}
slipway_newline='
'
slipway_dir="\${TMPDIR:-/tmp}/slipway.${randomBytes(16).toString('hex')}"
slipway_live=${secondsLeft ?? `''`}
slipway_first=${shellQuoted(text)}
${PROGRAM}`
}

/** The program has only functions, so a shell that receives a part of it runs nothing. */
const PROGRAM = `
slipway_say() {
  # The empty PATH excludes a printf program: its arguments would show the text.
  PATH=/dev/null printf '%s\\n' "$1" 2>/dev/null || cat <<slipway_end_of_text
$1
slipway_end_of_text
}
slipway_fail() {
  echo "$slipway_mark failed $1"
  exit 125
}
slipway_kill() {
  read -r slipway_pid <"$slipway_dir/pid" || return
  # Without setsid, the signal also ends this shell.
  [ "$1 $slipway_pid" != "KILL $$" ] || rm -rf -- "$slipway_dir"
  # The process may not lead a group yet.
  kill "-$1" "-$slipway_pid" || kill "-$1" "$slipway_pid"
} 2>/dev/null
slipway_is_left() {
  [ "$slipway_pid" ] && [ -z "$slipway_last" ] && kill -0 "-$slipway_pid"
} 2>/dev/null
slipway_count() {
  [ -r /proc/self/stat ] || { echo '?'; return; }
  slipway_n=0
  for slipway_stat in /proc/[0-9]*/stat; do
    read -r slipway_stat <"$slipway_stat" || continue
    # \`1234 (name) S 1 1234 …\`: the name may contain spaces and parentheses.
    set -- \${slipway_stat##*) }
    case "$1 $3" in
      [ZX]*) ;;
      *" $slipway_pid") slipway_n=$((slipway_n + 1)) ;;
    esac
  done
  echo "$slipway_n"
} 2>/dev/null
slipway_end_leftovers() {
  slipway_left=
  # A daemon may need a moment to leave the group.
  for slipway_rest in 1 2 3; do
    slipway_is_left || return
    sleep 0.1 2>/dev/null || { sleep 1; break; }
  done
  slipway_is_left || return
  slipway_left=$(slipway_count)
  [ "$slipway_left" != 0 ] || slipway_left=
  kill -KILL "-$slipway_pid" 2>/dev/null
}
slipway_timer() {
  slipway_before=$!
  trap '[ "$!" = "$slipway_before" ] || kill -KILL "$!"; exit' USR2
  sleep "$1" &
  wait "$!" && slipway_kill KILL
}
slipway_stop_timer() {
  [ -z "$slipway_timer" ] || kill -USR2 "$slipway_timer"
  slipway_timer=
} 2>/dev/null
slipway_start_timer() {
  slipway_stop_timer
  slipway_timer "$1" </dev/null >/dev/null 2>&1 &
  slipway_timer=$!
}
slipway_guard() {
  slipway_timer=
  [ -z "$slipway_live" ] || slipway_start_timer "$slipway_live"
  while read -r slipway_word slipway_rest; do
    case "$slipway_word" in
      run) slipway_say "$slipway_rest" ;;
      live) slipway_start_timer "$slipway_rest" ;;
      end) echo end >"$slipway_dir/ending"; slipway_kill TERM ;;
      kill) slipway_kill KILL ;;
    esac
  done
  slipway_stop_timer
  echo closed >"$slipway_dir/closed"
  slipway_kill KILL
}
slipway_make_work() {
  ( umask 022; mkdir "$slipway_dir/work" )
}
slipway_command() {
  exec 2>&5 5>&-
  trap - HUP INT TERM PIPE
  command -v "$1" >/dev/null 2>&1 || slipway_fail interpreter
  slipway_pid=$$
  if [ "$slipway_setsid" ]; then
    # The target of /proc/self is the id of this process. Not every shell updates PWD from it.
    cd -P /proc/self 2>/dev/null
    case "$PWD" in
      /proc/[0-9]*) slipway_pid=\${PWD##*/} ;;
      *) slipway_pid=$(exec sh -c 'echo "$PPID"') ;;
    esac
  fi
  { slipway_say "$slipway_script" >"$slipway_file" && cd "$slipway_dir/work"; } 2>/dev/null || slipway_fail directory
  umask 022
  eval "$slipway_enter"
  eval "$slipway_take"
  # Some shells run this list of commands in their own process.
  [ "$slipway_pid" = "$$" ] || set -- setsid "$@"
  echo "$slipway_pid" >"$slipway_dir/pid" || slipway_fail directory
  [ ! -s "$slipway_dir/closed" ] || exit 125
  echo "$slipway_mark ready"
  echo "$slipway_mark ready" >&2
  # An error of the shell here, such as a read-only variable, goes to the output of the command.
  slipway_exports
  exec "$@" </dev/null
}
slipway_try() {
  # A failed redirection of ":" would end the shell on a full disk.
  { true >"$slipway_dir/ending" && true >"$slipway_dir/pid" && true >"$slipway_dir/how"; } 2>/dev/null ||
    slipway_fail directory
  {
    ( slipway_command "$@" )
    slipway_status=$?
  } 5>&2 2>"$slipway_dir/how"
  slipway_pid=
  slipway_last=
  read -r slipway_pid <"$slipway_dir/pid"
  [ "$slipway_pid" != "$$" ] || slipway_last=last
  while [ -s "$slipway_dir/ending" ] && slipway_is_left; do sleep 0.1 2>/dev/null || sleep 1; done
  slipway_end_leftovers
  true >"$slipway_dir/pid"
  # An exit code above 128 means a signal only if the shell reported it on standard error.
  slipway_signal=
  [ "$slipway_status" -le 128 ] || [ ! -s "$slipway_dir/how" ] ||
    slipway_signal=$(kill -l "$((slipway_status - 128))")
  echo "$slipway_mark over $slipway_status\${slipway_signal:+ $slipway_signal}\${slipway_left:+ left $slipway_left}\${slipway_last:+ $slipway_last}"
  echo "$slipway_mark over" >&2
  if [ "$slipway_last" ]; then
    sleep 0.3 2>/dev/null || sleep 1
    rm -rf -- "$slipway_dir"
    kill -KILL "-$$"
  fi
  true >"$slipway_file"
  for slipway_rest in "$slipway_dir/work"/* "$slipway_dir/work"/.[!.]* "$slipway_dir/work"/..?*; do
    if [ -e "$slipway_rest" ] || [ -h "$slipway_rest" ]; then
      rm -rf -- "$slipway_dir/work"
      slipway_make_work
      break
    fi
  done
}
slipway_runner() {
  eval "$slipway_first"
  while read -r slipway_request; do eval "$slipway_request"; done
}
slipway_main() {
  umask 077
  slipway_setsid=
  ! command -v setsid >/dev/null 2>&1 || slipway_setsid=there
  { mkdir "$slipway_dir" && slipway_make_work; } 2>/dev/null || slipway_fail directory
  trap '' HUP INT TERM PIPE
  exec 3<&0
  { slipway_guard <&3 3<&- 2>/dev/null & } | slipway_runner 3<&-
  # The guard or the runner has ended.
  slipway_kill KILL
  exec rm -rf -- "$slipway_dir"
}
slipway_main
exit
`

/**
 * Verifies the content of file number $1 with the SHA-256 $2, and moves it to the path $4 with the permissions $3. The path may
 * be on another disk. The file moves to a draft beside the path first, so it appears there as a whole.
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
  slipway_draft="\${4%/*}/.slipway-$$-$1"
  {
    mkdir -p "\${4%/*}" && mv -f "$slipway_dir/files/$1" "$slipway_draft" &&
    chmod "$3" "$slipway_draft" && [ ! -d "$4" ] && mv -f "$slipway_draft" "$4"
  } 2>/dev/null || { rm -f "$slipway_draft"; slipway_fail "file $1 place"; }
}
`

/** Asks for the content of files, and waits for the line from the guard that says that SFTP has delivered it. */
function takeFiles(files: readonly CommandFile[]): string {
  if (files.length === 0) return ''
  const places = files.map(({ content, mode, path }, index) => {
    return `slipway_place ${index} ${content} ${mode} ${shellQuoted(`./${path}`)}`
  })
  return `${PLACE}
( umask 077; mkdir "$slipway_dir/files" ) || slipway_fail directory
echo "$slipway_mark wants $slipway_dir/files"
read -r slipway_word || slipway_fail files
${places.join('\n')}
rm -rf -- "$slipway_dir/files"
`
}

function writeBeside({ name, text }: { name: string; text: string }): string {
  return `slipway_say ${shellQuoted(text)} >"$slipway_dir/${name}" || slipway_fail directory; `
}

function enter(workingDirectory: string | null): string {
  if (workingDirectory === null) return ''
  const isAbsolute = workingDirectory.startsWith('/')
  // Without the dot, the shell may search CDPATH.
  const place = shellQuoted(isAbsolute ? workingDirectory : `./${workingDirectory}`)
  return `{ ${isAbsolute ? '' : `mkdir -p ${place} && `}cd ${place}; } 2>/dev/null || slipway_fail working-directory`
}
