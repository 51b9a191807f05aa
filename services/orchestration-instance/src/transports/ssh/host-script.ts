import { randomBytes } from 'node:crypto'
import { type Command, type CommandFile, INTERPRETER_CALLS, shellQuoted } from '@slipway/execution'

/**
 * What runs on an ssh target around commands: one shell for a connection, which starts one command after the other. Its
 * program is sent to the standard input of SHELL_COMMAND, so that nothing of it, of scripts or of their values shows in
 * the arguments of a process. Afterwards that input is the control line, of words and their lines:
 *
 *     run REQUEST     run this command; the one before has ended
 *     live N          KILL after N seconds, unless there is another word before
 *     end             TERM to the command's process group
 *     kill            KILL to it
 *     end of file     KILL, and away with everything: the link or the instance is gone
 *
 * Two processes of that shell do this: the guard reads the control line, the runner starts commands and waits for them. It
 * starts them in its foreground: what a shell starts in the background ignores INT and QUIT for ever. Each leads a
 * session of its own (setsid), and says in a file which, for the guard. Where there is no setsid, or a shell that cannot
 * tell the command's process beforehand, that is the shell's own, and the whole shell ends with its first command.
 *
 * On both output streams a mark stands before the command's own output and one behind it, so that nobody need wait for
 * the streams to close: a daemon may keep them open.
 */
export const SHELL_COMMAND = 'exec sh -s'

/** A host reads its program in one go, but a request byte by byte: longer ones had better be part of a program. */
export const MAX_REQUEST = 32 * 1024

export interface Request {
  /** Shell text without a newline. */
  text: string
  /**
   * Begins what the host says of this command, each on a line:
   *
   *     ready               on both streams, before the command's own output
   *     wants FOLDER        on standard output before that: the content of files has to come there, by place in the list
   *     failed PROBLEM      on standard output: the command cannot start, for a Problem
   *     over STATUS SIGNAL  on both streams, behind all of it; on standard output with how the command ended, and with
   *                         the word "last" where the shell ends as well
   */
  mark: string
}

export type Problem = 'directory' | 'interpreter' | 'working-directory' | 'files' | `file ${number} ${FileProblem}`
export type FileProblem = 'tool' | 'damaged' | 'place'

/** What answers a request without a command: says the mark on standard output. */
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
  // As a function, for values would be quoted twice in a variable, and a host reads a request byte by byte.
  set.push(`slipway_exports() { ${exports.length > 0 ? `export ${exports.join(' ')}` : ':'}; }`)
  const text = `${set.join('; ')}; slipway_file=${script}; slipway_try ${call}`.replaceAll('\n', `'"$slipway_newline"'`)
  return { text, mark }
}

/** The program for SHELL_COMMAND, with the first request. Commands live for `secondsLeft` unless there is a `live`. */
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

/** All within functions: a shell that got only a part of it runs nothing. */
const PROGRAM = `
slipway_say() {
  # Not where printf is a program: then what is said would show in its arguments.
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
  # In a group with the command this shell ends as well.
  [ "$1 $slipway_pid" != "KILL $$" ] || rm -rf -- "$slipway_dir"
  # Until it leads a group, there is nothing but itself.
  kill "-$1" "-$slipway_pid" || kill "-$1" "$slipway_pid"
} 2>/dev/null
slipway_is_left() {
  [ "$slipway_pid" ] && [ -z "$slipway_last" ] && kill -0 "-$slipway_pid"
} 2>/dev/null
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
slipway_command() {
  exec 2>&5 5>&-
  trap - HUP INT TERM PIPE
  command -v "$1" >/dev/null 2>&1 || slipway_fail interpreter
  slipway_pid=$$
  if [ "$slipway_setsid" ]; then
    # Where that folder leads says which process this is, without a program and without reading; not to every shell.
    cd -P /proc/self 2>/dev/null
    case "$PWD" in
      /proc/[0-9]*) slipway_pid=\${PWD##*/} ;;
      *) slipway_pid=$(exec sh -c 'echo "$PPID"') ;;
    esac
  fi
  { slipway_say "$slipway_script" >"$slipway_file" && cd "$slipway_dir/work"; } 2>/dev/null || slipway_fail directory
  eval "$slipway_enter"
  umask 022
  eval "$slipway_take"
  # Some shells make no process for this list of commands, so that it is their own.
  [ "$slipway_pid" = "$$" ] || set -- setsid "$@"
  echo "$slipway_pid" >"$slipway_dir/pid" || slipway_fail directory
  [ ! -s "$slipway_dir/closed" ] || exit 125
  echo "$slipway_mark ready"
  echo "$slipway_mark ready" >&2
  # What the shell refuses here (some variables are its own) is the command's output.
  slipway_exports
  exec "$@" </dev/null
}
slipway_try() {
  # Not by ":", with which a shell ends where the disk is full.
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
  true >"$slipway_dir/pid"
  # A shell that tells of a signal says something; exit codes may be as high.
  slipway_signal=
  [ "$slipway_status" -le 128 ] || [ ! -s "$slipway_dir/how" ] ||
    slipway_signal=$(kill -l "$((slipway_status - 128))")
  echo "$slipway_mark over $slipway_status\${slipway_signal:+ $slipway_signal}\${slipway_last:+ $slipway_last}"
  echo "$slipway_mark over" >&2
  # A daemon that the last line of the script started may be about to leave the group.
  if [ "$slipway_last" ] || slipway_is_left; then sleep 0.3 2>/dev/null || sleep 1; fi
  if [ "$slipway_last" ]; then
    rm -rf -- "$slipway_dir"
    kill -KILL "-$$"
  fi
  ! slipway_is_left || kill -KILL "-$slipway_pid" 2>/dev/null
  true >"$slipway_file"
  for slipway_rest in "$slipway_dir/work"/* "$slipway_dir/work"/.[!.]* "$slipway_dir/work"/..?*; do
    if [ -e "$slipway_rest" ] || [ -h "$slipway_rest" ]; then
      rm -rf -- "$slipway_dir/work"
      mkdir "$slipway_dir/work"
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
  mkdir "$slipway_dir" "$slipway_dir/work" 2>/dev/null || slipway_fail directory
  trap '' HUP INT TERM PIPE
  exec 3<&0
  { slipway_guard <&3 3<&- 2>/dev/null & } | slipway_runner 3<&-
  # The guard is gone, or the runner was killed.
  slipway_kill KILL
  exec rm -rf -- "$slipway_dir"
}
slipway_main
exit
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
  slipway_draft="\${4%/*}/.slipway-$$-$1"
  {
    mkdir -p "\${4%/*}" && mv -f "$slipway_dir/files/$1" "$slipway_draft" &&
    chmod "$3" "$slipway_draft" && [ ! -d "$4" ] && mv -f "$slipway_draft" "$4"
  } 2>/dev/null || { rm -f "$slipway_draft"; slipway_fail "file $1 place"; }
}
`

/** Asks for the content of files, which comes by SFTP, and goes on at the next line from the guard. */
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
  // Without the dot it may be looked for in the host's CDPATH.
  const place = shellQuoted(isAbsolute ? workingDirectory : `./${workingDirectory}`)
  return `{ ${isAbsolute ? '' : `mkdir -p ${place} && `}cd ${place}; } 2>/dev/null || slipway_fail working-directory`
}
