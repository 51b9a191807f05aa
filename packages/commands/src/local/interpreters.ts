import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import path from 'node:path'
import type { Interpreter } from '../command.ts'
import { interpreterMissing } from './workspace.ts'

/** By interpreter and search path. */
const found = new Map<string, string>()

/** Finds the executable of the interpreter. Throws CommandError if there is none. */
export async function findInterpreter(interpreter: Interpreter, searchPath: string, machine: string): Promise<string> {
  const key = `${interpreter}\n${searchPath}`
  const known = found.get(key)
  if (known !== undefined) return known
  for (const folder of searchPath.split(':').filter((entry) => path.isAbsolute(entry))) {
    const file = path.join(folder, interpreter)
    const isExecutable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (!isExecutable) continue
    found.set(key, file)
    return file
  }
  throw interpreterMissing(interpreter, machine, searchPath)
}
