import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { Interpreter } from '@slipway/domain'
import { Language, Parser } from 'web-tree-sitter'

const require = createRequire(import.meta.url)

/** A bundle has these files beside it (scripts/bundle.mjs). */
function fileOf(specifier: string): string {
  const beside = path.join(import.meta.dirname, path.basename(specifier))
  return fs.existsSync(beside) ? beside : require.resolve(specifier)
}

export const WASM_FILES = {
  runtime: 'web-tree-sitter/web-tree-sitter.wasm',
  shell: 'tree-sitter-bash/tree-sitter-bash.wasm',
  python3: 'tree-sitter-python/tree-sitter-python.wasm',
  node: 'tree-sitter-javascript/tree-sitter-javascript.wasm',
  pwsh: 'tree-sitter-powershell/tree-sitter-powershell.wasm',
}

const parsers = new Map<string, Promise<Parser>>()
let ready: Promise<void> | null = null

/** The parser of a language. Its grammar is loaded once. */
export function parserOf(interpreter: Interpreter): Promise<Parser> {
  const language = interpreter === 'sh' || interpreter === 'bash' ? 'shell' : interpreter
  const known = parsers.get(language) ?? load(WASM_FILES[language])
  parsers.set(language, known)
  return known
}

async function load(file: string): Promise<Parser> {
  ready ??= Parser.init({ locateFile: () => fileOf(WASM_FILES.runtime) })
  await ready
  const parser = new Parser()
  parser.setLanguage(await Language.load(fileOf(file)))
  return parser
}
