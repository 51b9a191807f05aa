/** A file of an action: its content, its path in the working directory of the command, and its permissions. */
export interface ActionFile {
  /** SHA-256 of its bytes, in hex. */
  content: string
  path: string
  /** Octal. The default is 0644. */
  mode?: string
}

export const DEFAULT_FILE_MODE = '0644'
/** The limit of file systems. */
const MAX_NAME_BYTES = 255

/** The path of a file without `.` and `..`; null if it leaves the working directory or names no file. */
export function plainFilePath(path: string): string | null {
  if (path.startsWith('/') || /(^|\/)\.{0,2}$/.test(path)) return null
  const names: string[] = []
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue
    if (name !== '..') names.push(name)
    else if (names.pop() === undefined) return null
  }
  return names.length === 0 ? null : names.join('/')
}

/** What is wrong with the path of each file, by its index. */
export function filePathProblems(paths: readonly string[]): { index: number; message: string }[] {
  const plain = paths.map(plainFilePath)
  const known = new Set<string>()
  const folders = new Set(plain.flatMap((path) => (path === null ? [] : foldersOf(path))))
  return plain.flatMap((path, index) => {
    const message =
      path === null ? OUTSIDE : (expansionProblem(path) ?? namesProblem(path) ?? clash(path, known, folders))
    if (path !== null) known.add(path)
    return message === null ? [] : [{ index, message }]
  })
}

const OUTSIDE = 'must be the path of a file, relative to the working directory and below it'

/** Why a path would not be what its author means, or null: nothing expands `~`, variables and templates in it. */
export function expansionProblem(path: string): string | null {
  const found = /^~|\$\w+|\$[{(]|`|\{\{/.exec(path)
  return found === null ? null : `has ${found[0]}, which is not expanded here: write the whole path`
}

function namesProblem(path: string): string | null {
  if (/\p{Cc}/u.test(path)) return 'must not contain control characters'
  const isLong = path.split('/').some((name) => new TextEncoder().encode(name).length > MAX_NAME_BYTES)
  return isLong ? `must not contain names of more than ${MAX_NAME_BYTES} bytes` : null
}

function clash(path: string, known: ReadonlySet<string>, folders: ReadonlySet<string>): string | null {
  if (known.has(path)) return 'is the path of an earlier file'
  return folders.has(path) ? 'is a folder of another file' : null
}

function foldersOf(path: string): string[] {
  const names = path.split('/')
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'))
}
