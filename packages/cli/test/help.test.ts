import { describe, expect, test } from '@jest/globals'
import type { Command } from 'commander'
import { EXAMPLES } from '../src/commands/examples.ts'
import { buildProgram } from '../src/commands/program.ts'
import { parse, readWords } from './command-lines.ts'
import { createIo, runSlipway } from './slipway.ts'

/** Every visible subcommand with the words that call it. */
function every(command: Command, words: string[] = []): [string, Command][] {
  const children = command.createHelp().visibleCommands(command)
  return [[words.join(' '), command], ...children.flatMap((child) => every(child, [...words, child.name()]))]
}

const commands = every(buildProgram(createIo().io))

describe('--help', () => {
  test.each(commands.map(([words]) => words))('slipway %s', async (words) => {
    const { code, stdout } = await runSlipway('', [...words.split(' ').filter(Boolean), '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain(`Usage: slipway${words === '' ? '' : ` ${words}`}`)
    expect(stdout).toContain('Documentation: ')
    expect(stdout.split('\n').filter((line) => line.length > 80 && !line.startsWith('  slipway '))).toEqual([])
  })

  test('describes every subcommand, argument and option', () => {
    expect(commands.length).toBeGreaterThan(40)
    for (const [words, command] of commands) {
      expect([words, command.description()]).toEqual([words, expect.stringMatching(/\w/)])
      for (const option of command.options)
        expect([words, option.long, option.description]).toEqual([words, option.long, expect.stringMatching(/\w/)])
      for (const argument of command.registeredArguments)
        expect([words, argument.description]).toEqual([words, expect.stringMatching(/\w/)])
    }
  })
})

describe('examples', () => {
  test.each(commands.map(([words]) => words))('slipway %s has two that parse', (words) => {
    const examples = EXAMPLES[words] ?? []
    expect(examples).toHaveLength(2)
    for (const example of examples) {
      const [program, ...call] = readWords(example)
      expect([example, program, parse(call)]).toEqual([example, 'slipway', null])
    }
  })

  test('belong to commands', () => {
    expect(Object.keys(EXAMPLES).toSorted()).toEqual(commands.map(([words]) => words).toSorted())
  })
})

const getHelp = async (...words: string[]) => (await runSlipway('', [...words, '--help'])).stdout

test('required options are marked, and options of a deploy have groups', async () => {
  expect(await getHelp('freezes', 'create')).toMatch(/--end <time> [^()]*\(required\)/)
  const [, others] = (await getHelp('deploy')).split('\nOptions:\n')
  expect(others).toMatch(/^ {2}-h, --help .*\n\n/)
})

test('every command is in a group', async () => {
  expect(await getHelp()).not.toContain('\nCommands:')
})

test('the address of the documentation is that of the server in use', async () => {
  expect(await getHelp('--url', 'https://slipway.example.com', 'deploy')).toContain(
    'Documentation: https://slipway.example.com/docs\n',
  )
  expect(await getHelp('deploy')).toContain('Documentation: the path /docs of your server\n')
})

test.each([
  [[], 'Usage: slipway [options]'],
  [['help'], 'Usage: slipway [options]'],
  [['help', 'deploy'], 'Usage: slipway deploy'],
  [['help', 'target', 'create'], 'Usage: slipway targets create'],
  [['targets', 'help', 'create'], 'Usage: slipway targets create'],
])('slipway %j prints help', async (words, expected) => {
  expect(await runSlipway('', words)).toMatchObject({ code: 0, stdout: expect.stringContaining(expected), stderr: '' })
})

test.each([
  [['help', 'deplyo'], 'Did you mean deploy?'],
  [['help', 'targets', 'rm'], 'Did you mean delete?'],
  [['env'], 'Did you mean environments?'],
  [['create', 'target', 'web-1'], 'Did you mean slipway targets create?'],
  [['get', 'users'], 'Did you mean slipway users show?'],
  [['ssh'], 'in the help of: targets create'],
  [['target', 'web-1'], '`slipway targets show web-1`'],
])('slipway %j is refused with a hint', async (words, hint) => {
  expect(await runSlipway('', words)).toMatchObject({ code: 2, stderr: expect.stringContaining(hint) })
})
