import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'

export const repositoryRoot = path.resolve(import.meta.dirname, '../../..')

/** The tracked and untracked files that match the patterns, without ignored files. Paths start at the root. */
export function repositoryFiles(...patterns: string[]): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '--', ...patterns]
  const names = execFileSync('git', args, { cwd: repositoryRoot, encoding: 'utf8' }).split('\0')
  return [...new Set(names)].filter((name) => name !== '' && existsSync(path.join(repositoryRoot, name)))
}
