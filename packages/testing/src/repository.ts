import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'

/** Top folder of the repository. */
export const repositoryRoot = path.resolve(import.meta.dirname, '../../..')

/** The files that git keeps, or would keep, of these folders or patterns: paths from the top, nothing that was generated. */
export function repositoryFiles(...patterns: string[]): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '--', ...patterns]
  const names = execFileSync('git', args, { cwd: repositoryRoot, encoding: 'utf8' }).split('\0')
  return [...new Set(names)].filter((name) => name !== '' && existsSync(path.join(repositoryRoot, name)))
}
