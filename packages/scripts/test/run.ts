import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type Interpreter, insertValues, type ScriptTemplate } from '@slipway/domain'
import { readScript } from '../src/index.ts'

export interface Ran {
  status: number | null
  stdout: string
  stderr: string
  /** The files that the script left in its folder. */
  files: string[]
}

const ARGUMENTS: Record<Interpreter, string[]> = { sh: [], bash: [], python3: ['-'], node: ['-'], pwsh: ['-'] }

/** Runs a script with the real interpreter, in an empty folder. */
export function run(interpreter: Interpreter | 'dash', script: string): Ran {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-script-'))
  try {
    const { status, stdout, stderr } = spawnSync(interpreter, interpreter === 'dash' ? [] : ARGUMENTS[interpreter], {
      input: script,
      encoding: 'utf8',
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' },
    })
    return { status, stdout, stderr, files: fs.readdirSync(folder) }
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

export const templateOf = async (script: string, interpreter: Interpreter): Promise<ScriptTemplate> =>
  (await readScript(script, interpreter)).template

/** The script with this value of `{{ value }}`. */
export async function withValue(script: string, value: unknown, interpreter: Interpreter): Promise<string> {
  return insertValues(script, await templateOf(script, interpreter), { value })
}

/** Values that do harm where a shell or another interpreter evaluates them. They would leave the file X. */
export const ATTACKS = [
  'a[$(touch X)]',
  '$(touch X)',
  '`touch X`',
  "'; touch X; '",
  '"; touch X; "',
  '\n touch X\n',
  '\nEOF\ntouch X\n',
  '\\',
  "\\'; touch X #",
  '-v',
  '; touch X #',
  ') ; touch X ; (',
  '__import__("os").system("touch X")',
  '"+__import__("os").system("touch X")+"',
  '$' + '{require("fs").writeFileSync("X","")}',
  '"+require("fs").writeFileSync("X","")+"',
  '*?[a]~ ~root & | < > { } !',
  'naïve 日本 🚢 ’quoted‘',
  ' a  b ',
  'a\tb',
  '%s%n',
]
