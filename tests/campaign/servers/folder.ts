import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

/** A new folder that other users may enter: Postgres does not run as root. */
export function serverFolder(name: string): string {
  const folder = fs.mkdtempSync(path.join('/var/tmp', `slipway-campaign-${name}-`))
  fs.chmodSync(folder, 0o755)
  return folder
}

/** The command line that runs a program as the user of Postgres, which refuses to run as root. */
export const asPostgres = (program: string, ...args: string[]): [string, string[]] =>
  process.getuid?.() === 0
    ? ['setpriv', ['--reuid=postgres', '--regid=postgres', '--init-groups', '--reset-env', '--', program, ...args]]
    : [program, args]

export function newestPath(pattern: string): string | null {
  const listed = execFileSync('bash', ['-c', `ls -d ${pattern} 2>/dev/null | sort -V | tail -n 1`], {
    encoding: 'utf8',
  })
  return listed.trim() || null
}
