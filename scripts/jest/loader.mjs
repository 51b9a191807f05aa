import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { transform } from '@swc/wasm-typescript'

const globals = new URL('./globals.mjs', import.meta.url).href

/**
 * A source that is imported with `?instead=URL` is a copy of its own, and so are all sources that it imports; one with
 * the file name of `URL` is `URL` itself.
 */
export async function resolve(specifier, context, next) {
  if (specifier === '@jest/globals') return { url: globals, shortCircuit: true }
  const found = await next(specifier, context)
  const { search, searchParams } = new URL(context.parentURL ?? 'file:///')
  const instead = searchParams.get('instead')
  if (instead === null || !found.url.endsWith('.ts')) return found
  const isReplaced = path.basename(found.url) === path.basename(instead)
  return { ...found, url: isReplaced ? instead : found.url + search }
}

export async function load(url, context, next) {
  if (!new URL(url).pathname.endsWith('.ts')) return next(url, context)
  const filename = fileURLToPath(url)
  // Types become blanks: lines and columns of a stack are those of the file.
  const { code } = await transform(await readFile(filename, 'utf8'), { mode: 'strip-only', filename, module: true })
  return { format: 'module', source: code, shortCircuit: true }
}
