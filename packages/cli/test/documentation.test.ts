// Parses every call of slipway in the documents. tests/release/documentation.test.ts runs examples.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { OPERATIONS, type Operation } from '@slipway/contracts'
import type { Command } from 'commander'
import { buildProgram } from '../src/commands/program.ts'
import { parse, readWords } from './command-lines.ts'
import { createIo } from './slipway.ts'

const root = path.resolve(import.meta.dirname, '../../..')
const listed = execFileSync('git', ['ls-files', '*.md', ':!CHANGELOG.md', ':!docs/decisions'], {
  cwd: root,
  encoding: 'utf8',
})
const documents = listed
  .trim()
  .split('\n')
  .map((name) => ({ name, ...readCode(fs.readFileSync(path.join(root, name), 'utf8')) }))

/** The shell text of code blocks and indented lines, and the code inside sentences. */
function readCode(text: string): { shell: string; inline: string[] } {
  const fenced = [...text.matchAll(/^ *```sh\n(.*?)^ *```$/gms)].map(([, block]) => block)
  const prose = text.replaceAll(/^ *```.*?^ *```$/gms, '')
  const indented = prose.split('\n').filter((line) => /^ {4}/.test(line))
  const inline = [...prose.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replaceAll(/\s+/g, ' '))
  return { shell: [...fenced, ...indented].join('\n'), inline }
}

/** The possible starts of a call: an operator, a shell keyword, environment variables or `docker run`. */
const BEGIN =
  '(?:^|\\$\\(|\\||&&|;) *(?:(?:until|while|if|!) +)*(?:[A-Z_]+=(?:"[^"]*"|\\S*) +)*(?:docker run [^|;\\n]*? )?'
const CALL = new RegExp(`${BEGIN}slipway(?:/cli:\\S+)?(?![\\w/.:-])(.*?(?<!\\\\))$`, 'gms')

/** The words of each call of `slipway` without quotes. */
function listCalls(shell: string): string[][] {
  return [...shell.matchAll(CALL)].map(([, rest = '']) => readWords(rest))
}

/** main() prints the version without the parser. */
const isVersion = (words: readonly string[]) => words.join(' ') === '--version'

describe('calls of slipway in documents', () => {
  const calls = documents.flatMap(({ name, shell }) => listCalls(shell).map((words) => ({ name, words })))

  test('calls in code blocks are complete', () => {
    expect(calls.length).toBeGreaterThan(60)
    const wrong = calls.flatMap(({ name, words }) => {
      const problem = isVersion(words) ? null : parse(words)
      return problem === null ? [] : [`${name}: slipway ${words.join(' ')}: ${problem}`]
    })
    expect(wrong).toEqual([])
  })

  test('calls in sentences use existing subcommands and options', () => {
    const subcommands = buildProgram(createIo().io).commands.flatMap((command) => [
      command.name(),
      ...command.aliases(),
    ])
    const isAlone = (name: string, code: string) =>
      name === 'docs/cli.md' && subcommands.includes(code.split(' ')[0] ?? '') && !code.startsWith('export PATH')
    const named = documents.flatMap(({ name, inline }) =>
      inline.flatMap((code) =>
        listCalls(isAlone(name, code) ? `slipway ${code}` : code).map((words) => ({ name, words })),
      ),
    )
    expect(named.length).toBeGreaterThan(60)
    const wrong = named.flatMap(({ name, words }) => {
      const problem = isVersion(words) ? null : parse(words, { mayBeIncomplete: true })
      return problem === null ? [] : [`${name}: slipway ${words.join(' ')}: ${problem}`]
    })
    expect(wrong).toEqual([])
  })

  test('wrong calls are detected', () => {
    const shell = [
      'A=1 slipway deploy "a b" \\',
      "  --var x='y z' | jq .",
      'X=$(slipway nothing)',
      'until slipway status; do sleep 1; done',
      'docker run --rm slipway/cli:1.2.3 status -o json',
      'kubectl -n slipway get pods',
    ]
    expect(listCalls(shell.join('\n'))).toEqual([
      ['deploy', 'a b', '--var', 'x=y z'],
      ['nothing'],
      ['status'],
      ['status', '-o', 'json'],
    ])
    expect(parse(['nothing'])).toContain('unknown command')
    expect(parse(['deploy', 'x', '--nothing'])).toContain('unknown option')
    expect(parse(['redeploy'])).toContain('missing required argument')
    expect(parse(['status', 'a', 'b'])).toContain('too many arguments')
    expect(parse(['redeploy'], { mayBeIncomplete: true })).toBeNull()
  })

  test('every option in docs/cli.md exists', () => {
    const known = new Set(listOptions(buildProgram(createIo().io)))
    const { inline } = documents.find(({ name }) => name === 'docs/cli.md') ?? { inline: [] }
    const named = inline.flatMap((code) => code.match(/^--[a-z-]+/) ?? [])
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter((option) => !known.has(option))).toEqual([])
  })
})

function listOptions(command: Command): string[] {
  const own = [...command.options.map(({ long }) => long ?? ''), '--help']
  return [...own, ...command.commands.flatMap(listOptions)]
}

test('every API operation in the documents exists with its query parameters', () => {
  const operations: Operation[] = Object.values(OPERATIONS)
  const named = documents.flatMap(({ name, inline }) =>
    inline.flatMap((code) => {
      const [, method, route = '', query] =
        /^(GET|POST|PATCH|PUT|DELETE) (?:\/api\/v1)?(\/[^ ?]*)(?:\?([^ ]*))?/.exec(code) ?? []
      // The executor-bridge has its own operations below /v1.
      return method === undefined || route.startsWith('/v1/') ? [] : [{ name, method, route, query }]
    }),
  )
  expect(named.length).toBeGreaterThan(30)
  const withoutNames = (route: string) => route.replaceAll(/\{\w+\}/g, '{}')
  const wrong = named.filter(({ method, route, query }) => {
    const found = operations.find((one) => one.method === method && withoutNames(one.path) === withoutNames(route))
    const fields = [...new URLSearchParams(query).keys()]
    return found === undefined || fields.some((field) => found.query?.properties[field] === undefined)
  })
  expect(wrong).toEqual([])
})

test('every make target in the documents exists', () => {
  const targets = [...fs.readFileSync(path.join(root, 'Makefile'), 'utf8').matchAll(/^([a-z-]+):/gm)].map(
    ([, one]) => one,
  )
  const named = documents.flatMap(({ name, shell, inline }) =>
    [shell, ...inline].flatMap((code) =>
      [...code.matchAll(/^ *(?:[A-Z_]+=\S* +)*make ([a-z-]+)/gm)].map(([, target]) => ({ name, target })),
    ),
  )
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter(({ target }) => !targets.includes(target))).toEqual([])
})

test('every script in the documents exists with its options', () => {
  const named = documents.flatMap(({ name, shell, inline }) =>
    [shell, ...inline].flatMap((code) =>
      [
        ...code.matchAll(/(?<![\w./-])((?:deploy|examples|scripts|packages|bench)\/[\w./-]+\.(?:sh|mjs))([^\n|;&]*)/g),
      ].map(([, script = '', rest = '']) => ({ name, script, options: rest.match(/(?<= )--[a-z-]+/g) ?? [] })),
    ),
  )
  expect(named.length).toBeGreaterThan(10)
  const wrong = named.filter(({ script, options }) => {
    const file = path.join(root, script)
    if (!fs.existsSync(file)) return true
    const text = fs.readFileSync(file, 'utf8')
    return options.some((option) => !text.includes(option))
  })
  expect(wrong).toEqual([])
})
