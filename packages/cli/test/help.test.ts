import { describe, expect, test } from '@jest/globals'
import type { Command } from 'commander'
import { buildProgram } from '../src/commands/program.ts'
import { createIo, runSlipway } from './slipway.ts'

/** Every visible subcommand with the words that call it. */
function every(command: Command, words: string[] = []): [string, Command][] {
  const children = command
    .createHelp()
    .visibleCommands(command)
    .filter((child) => child.name() !== 'help')
  return [[words.join(' '), command], ...children.flatMap((child) => every(child, [...words, child.name()]))]
}

const commands = every(buildProgram(createIo().io))

describe('--help', () => {
  test.each(commands.map(([words]) => words))('slipway %s', async (words) => {
    const { code, stdout } = await runSlipway('', [...words.split(' ').filter(Boolean), '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain(`Usage: slipway${words === '' ? '' : ` ${words}`}`)
    expect(stdout).toContain('--output')
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
