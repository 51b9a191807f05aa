import { describe, expect, test } from '@jest/globals'
import { prepareScript } from '../src/index.ts'

describe('a script is prepared for its interpreter', () => {
  test('a byte order mark is dropped', () => {
    expect(prepareScript('\uFEFFecho a', undefined)).toEqual({
      script: 'echo a',
      interpreter: 'sh',
      warnings: [],
      problem: null,
    })
  })

  test('CRLF becomes LF in shells, with a warning, and stays elsewhere', () => {
    expect(prepareScript('a\r\nb\r\n', 'bash')).toMatchObject({
      script: 'a\nb\n',
      warnings: [expect.stringContaining('CRLF')],
    })
    expect(prepareScript('a\r\nb', 'python3')).toMatchObject({ script: 'a\r\nb', warnings: [] })
  })

  test.each([
    ['#!/bin/bash', 'bash'],
    ['#!/usr/bin/env bash', 'bash'],
    ['#!/usr/bin/env -S python3 -u', 'python3'],
    ['#! /usr/local/bin/node', 'node'],
    ['#!/bin/dash', 'sh'],
    ['# no such line', 'sh'],
  ])('%s names %s', (line, interpreter) => {
    expect(prepareScript(`${line}\ntrue`, undefined)).toMatchObject({ interpreter, problem: null })
  })

  test.each([
    ['#!/bin/bash -e', 'set -e'],
    ['#!/bin/sh -eu', 'set -eu'],
    ['#!/usr/bin/env -S bash -eu -o pipefail', 'set -eu -o pipefail'],
    ['#!/usr/bin/env -S bash -euo pipefail', 'set -euo pipefail'],
  ])('the options of %s become %s', (line, command) => {
    const prepared = prepareScript(`${line}\nfalse\n`, undefined)
    expect(prepared).toMatchObject({ script: `${command} # ${line}\nfalse\n`, problem: null })
    expect(prepared.warnings).toEqual([expect.stringContaining(command)])
    const again = prepareScript(prepared.script, prepared.interpreter)
    expect(again).toMatchObject({ script: prepared.script, warnings: [], problem: null })
  })

  test.each(['#!/bin/sh -', '#!/bin/bash --', '#!/usr/bin/python3 -u'])('%s has no options that matter', (line) => {
    expect(prepareScript(line, undefined)).toMatchObject({ script: line, warnings: [], problem: null })
  })

  test.each([
    '#!/bin/bash -l',
    '#!/bin/bash --posix',
    '#!/bin/bash -o',
    '#!/bin/bash -e x',
    '#!/usr/bin/python3 -O',
    '#!/usr/bin/env -S node --inspect',
  ])('%s has options that nothing applies', (line) => {
    expect(prepareScript(line, undefined).problem).toMatch(/line 1 has the options .*: remove them/)
  })

  test('a line that names another interpreter than the definition, or none of ours, is a problem', () => {
    expect(prepareScript('#!/bin/bash\ntrue', 'sh').problem).toContain('line 1 names bash')
    expect(prepareScript('#!/usr/bin/perl\n', undefined).problem).toContain('perl')
    expect(prepareScript('#!/bin/bash\ntrue', 'bash').problem).toBeNull()
  })
})
