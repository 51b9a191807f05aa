// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are shell scripts
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import { renderTemplate, templatesInArithmetic, UnsafeTemplate } from '../src/index.ts'

const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-arithmetic-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Bash scripts that execute code in a value of `n` if it is inserted as text. */
const EVALUATED = [
  'echo $(( {{ n }} + 1 ))',
  'echo "$(( {{ n }} + 1 ))"',
  '(( {{n}} > 1 )) || true',
  'x=$[ {{ n }} + 1 ]',
  'for ((i = 0; i < {{ n }}; i++)); do break; done',
  '[[ {{ n }} -gt 1 ]] || true',
  '[[ 1 -eq {{ n }} ]] || true',
  '[[ -v {{ n }} ]] || true',
  'let "x = {{ n }}" || true',
  'let x={{ n }} || true',
  'declare -i x={{ n }}',
  'f() { local -ri x={{ n }}; }; f',
  'typeset -i x; declare -i y={{ n }}',
  's=abc; echo "${s:{{ n }}:1}"',
  's=abc; echo ${s:0:{{ n }}}',
  'a=(1 2); echo "${a[{{ n }}]}"',
  'a[{{ n }}]=1',
  'test -v {{ n }} || true',
  'echo $(( 1 + \\\n {{ n }} ))',
]

const HARMLESS = [
  'echo {{ n }}',
  'echo "{{ n }} of 3"',
  "echo 'it is {{ n }}'",
  '[ {{ n }} -gt 1 ]',
  '[[ "{{ n }}" == x* ]]',
  'echo "$(echo {{ n }})"',
  '( ( echo {{ n }} ) )',
  'echo "${s:-{{ n }}}"',
  'x={{ n }}; echo $((1 + 1))',
  'cat <<END\n{{ n }}\nEND',
]

describe('a template in arithmetic', () => {
  test.each(EVALUATED)('is detected: %s', (script) => {
    expect(templatesInArithmetic(script)).toEqual(['n'])
  })

  test.each(HARMLESS)('is not detected in: %s', (script) => {
    expect(templatesInArithmetic(script)).toEqual([])
  })

  test.each(EVALUATED)('accepts numbers only, so that bash executes no value: %s', (script) => {
    const marker = path.join(folder, 'ran')
    for (const hostile of [`a[$(touch ${marker})]`, `x=1,a[$(touch ${marker})]`, '']) {
      expect(() => renderTemplate(script, { n: hostile }, 'bash')).toThrow(UnsafeTemplate)
      expect(() => renderTemplate(script, { n: hostile }, 'sh')).toThrow(UnsafeTemplate)
    }
    const { text } = renderTemplate(script, { n: 1 }, 'bash')
    execFileSync('bash', ['-c', text], { stdio: 'ignore' })
    expect(existsSync(marker)).toBe(false)
  })

  test.each(HARMLESS)('is allowed outside of arithmetic, where any value stays data: %s', (script) => {
    const marker = path.join(folder, 'ran')
    const { text } = renderTemplate(`s=; ${script} || true`, { n: `a[$(touch ${marker})]` }, 'bash')
    execFileSync('bash', ['-c', text], { stdio: 'ignore' })
    expect(existsSync(marker)).toBe(false)
  })

  test.each([-3, 0, 4.5, 1e21, 2e-7])('accepts %d', (n) => {
    expect(() => renderTemplate('echo $(( {{ n }} ))', { n })).not.toThrow()
  })

  test('is allowed in languages that do not evaluate values', () => {
    expect(renderTemplate('print((({{ n }})))', { n: 'x' }, 'python3').text).toBe('print((("x")))')
  })
})
