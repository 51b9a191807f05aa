import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from '@jest/globals'

const sources = path.join(import.meta.dirname, '../src')

test('only the subcommands that read files load the schemas of the contracts', () => {
  const files = fs.readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const imports = files.filter((file) => {
    const text = fs.readFileSync(path.join(sources, file), 'utf8')
    return /^import (?!type )(?:(?!^import )[\s\S])*?from '@slipway\/contracts'/m.test(text)
  })
  expect(imports.map((file) => path.dirname(file))).toEqual(imports.map(() => 'files'))
  expect(imports).not.toEqual([])
})

test('only the executable reads the process', () => {
  const files = fs.readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const readers = files.filter((file) =>
    /\b(process|console)\.\w|from 'node:process'/.test(fs.readFileSync(path.join(sources, file), 'utf8')),
  )
  expect(readers).toEqual(['executable.ts'])
})
