// Where a value may stand in scripts of Python, Node.js and PowerShell. The first two are run.
import { describe, expect, test } from '@jest/globals'
import { insertValues } from '@slipway/domain'
import { ATTACKS, run, templateOf, withValue } from './run.ts'

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: these are scripts
const PYTHON = [
  'import sys; v = {{ value }}; print(v, end="\\1")',
  'print("{{ value }}", end="\\1")',
  "print('{{ value }}', end='\\1')",
  'print("""{{ value }}""", end="\\1")',
  'a = 1; print(f"{{ value }}", end="\\1")',
  'print(b"{{ value }}".decode(), end="\\1")',
  'print({"a": {{ value }}}["a"], end="\\1")',
  'print([{{ value }}][0], end="\\1")',
  'print("x" "{{ value }}"[0:], end="\\1") if False else print({{ value }}.replace("\\2", ""), end="\\1")',
]
const NODE = [
  'const v = {{ value }}; process.stdout.write(v + "\\u0001")',
  'process.stdout.write("{{ value }}" + "\\u0001")',
  "process.stdout.write('{{ value }}' + '\\u0001')",
  'process.stdout.write(`{{ value }}` + "\\u0001")',
  'process.stdout.write({ a: {{ value }} }.a + "\\u0001")',
  'process.stdout.write([{{ value }}][0] + "\\u0001")',
  'process.stdout.write(require("node:util").format("%s", "{{ value }}") + "\\u0001")',
  'setTimeout(() => 0, 0); /a/.exec("{{ value }}"); process.stdout.write({{ value }} + "\\u0001")',
]
const REFUSED = {
  python3: [
    'x = f"{ {{ value }} }"',
    'x = r"{{ value }}"',
    '{{ value }} = 1',
    'import {{ value }}',
    'def {{ value }}(): pass',
    'a.{{ value }}',
    'f({{ value }}=1)',
    'eval("{{ value }}")',
    'import os; os.system("ls {{ value }}")',
    'import subprocess; subprocess.run("ls {{ value }}", shell=True)',
    'x = "\\{{ value }}"',
    'print("a" {{ value }})',
    'from os import system; system("ls {{ value }}")',
    'import subprocess as sp; sp.run("ls {{ value }}", shell=1)',
    'subprocess.run(["sh", "-c", "ls {{ value }}"])',
    'print("\\x{{ value }}")',
  ],
  node: [
    'x = `${ {{ value }} }`',
    'x = /{{ value }}/',
    'String.raw`{{ value }}`',
    'a.{{ value }}',
    'function {{ value }}() {}',
    'const { {{ value }} } = a',
    'import "{{ value }}"',
    'eval("{{ value }}")',
    'new Function({{ value }})',
    'require("child_process").execSync("ls {{ value }}")',
    '{{ value }} = 1',
    '(0, eval)("{{ value }}")',
    'vm.runInThisContext("{{ value }}")',
    'spawnSync("ls {{ value }}", { shell: true })',
    'spawnSync("sh", ["-c", "ls {{ value }}"])',
    'require("{{ value }}")',
    'require("node:fs").constructor.constructor("{{ value }}")',
  ],
  pwsh: [
    'iex "{{ value }}"',
    '$x = "$({{ value }})"',
    `$x = @"\n{{ value }}\n"@`,
    '{{ value }} = 1',
    '${{ value }}',
    'sh -c "{{ value }}"',
  ],
} as const
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above

describe.each([
  ['python3', PYTHON],
  ['node', NODE],
] as const)('%s', (interpreter, scripts) => {
  test('values arrive to the byte, and nothing in them runs', async () => {
    const names = Object.fromEntries(ATTACKS.map((value, index) => [`value_${index}`, value]))
    const statements = scripts.flatMap((script) => Object.keys(names).map((name) => script.replaceAll('value', name)))
    const script = statements.map((each) => (interpreter === 'node' ? `{ ${each} }` : each)).join('\n')
    const { stdout, stderr, files } = run(
      interpreter,
      insertValues(script, await templateOf(script, interpreter), names),
    )
    expect({ stderr, files }).toEqual({ stderr: '', files: [] })
    expect(stdout.split('\u0001').slice(0, -1)).toEqual(scripts.flatMap(() => ATTACKS))
  })
})

describe('outside of strings a value keeps its type', () => {
  const values: [unknown, python: string][] = [
    [8080, '8080'],
    [-1.5, '-1.5'],
    [false, 'False'],
    [null, 'None'],
    ['8080', "'8080'"],
    [{ a: [1, true, null, `"'\\{}`], ['__proto__']: {} }, `{'a': [1, True, None, '"\\'\\\\{}'], '__proto__': {}}`],
  ]

  test.each(values)('python3: %j', async (value, printed) => {
    const script = await withValue(
      'v = {{ value }}\nprint([v, 2-({{ value }} if v == -1.5 else 0)][0].__repr__())',
      value,
      'python3',
    )
    expect(run('python3', script)).toMatchObject({ stderr: '', stdout: `${printed}\n` })
  })

  test.each(values)('node: %j', async (value) => {
    const script =
      'const of = () => {{ value }}; const v = {{ value }}; if (v === -1.5 && 2-{{ value }} !== 3.5) throw v; console.log(JSON.stringify([v, of()]))'
    const { stderr, stdout } = run('node', await withValue(script, value, 'node'))
    expect({ stderr, stdout }).toEqual({ stderr: '', stdout: `${JSON.stringify([value, value])}\n` })
  })

  test.each([
    [8080, '(8080)'],
    [false, '$false'],
    [null, '$null'],
  ])('PowerShell: %j', async (value, literal) => {
    expect(await withValue('$x = {{ value }}', value, 'pwsh')).toBe(`$x = ${literal}`)
  })
})

test('typed values stand in every part of an expression', async () => {
  const value = { list: [1, 2, 3], n: 2, flag: false, map: { a: 1 } }
  const fill = async (script: string, interpreter: 'python3' | 'node') =>
    run(interpreter, insertValues(script, await templateOf(script, interpreter), value))
  const python = [
    'def f(a: int = {{ n }}, *b, **c): return (a, b, c)',
    'if {{ flag }}: print("no")',
    'elif not {{ flag }}: print({{ map }}["a"], [0, 1, 2, 3][:{{ n }}], -{{ n }}, f(*{{ list }}, **{{ map }}) if {{ flag }} else f(), [x for x in {{ list }}])',
  ].join('\n')
  expect(await fill(python, 'python3')).toMatchObject({ stdout: '1 [0, 1] -2 (2, (), {}) [1, 2, 3]\n', stderr: '' })
  const node =
    'if ({{ flag }}) throw 0; console.log(JSON.stringify([{{ map }}["a"], [...{{ list }}], { ...{{ map }} }, -{{ n }}, !{{ flag }}, {{ n }}.toFixed(1)]))'
  expect(await fill(node, 'node')).toMatchObject({ stdout: '[1,[1,2,3],{"a":1},-2,true,"2.0"]\n', stderr: '' })
})

describe('a value is refused', () => {
  const cases = Object.entries(REFUSED).flatMap(([interpreter, scripts]) =>
    scripts.map((script) => [interpreter as keyof typeof REFUSED, script] as const),
  )
  test.each(cases)('%s: %s', async (interpreter, script) => {
    const { places, refused } = await templateOf(script, interpreter)
    expect({ places, refused }).toMatchObject({ places: [], refused: [{ name: 'value' }] })
  })
})

test('PowerShell gets values as literals, and escaped inside of strings', async () => {
  const script = `$x = {{ value }}; Write-Host "a {{ value }}" 'b {{ value }}' {{ value }}`
  expect(await withValue(script, `it's $(id)`, 'pwsh')).toBe(
    '$x = "it`u{27}s `u{24}`u{28}id`u{29}"; Write-Host "a it`u{27}s `u{24}`u{28}id`u{29}" \'b it\'\'s $(id)\' "it`u{27}s `u{24}`u{28}id`u{29}"',
  )
})
