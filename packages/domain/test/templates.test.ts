import { spawnSync } from 'node:child_process'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { type Interpreter, renderTemplate, templateNames } from '../src/index.ts'

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: these are shell variables
const HOSTILE = [
  '',
  ' a  b ',
  "it's",
  '"; exit 3; "',
  "'; exit 3; '",
  '$(exit 3)`exit 3`${HOME}$HOME',
  'a\nexit 3\n',
  '\nEOF\nexit 3\n',
  '\\',
  "\\'; exit 3 #",
  '# */ // <!-- {{ value }} {{ other }}',
  '*?[a]~ ~root & | ; < > ( ) { } !',
  '-n',
  'a\tb\r\n',
  'naïve 日本 🚢 ’quoted‘',
  '__import__("os")._exit(3)',
  '"+process.exit(3)+"',
  '"""+__import__("os")._exit(3)+"""',
]
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above
const anyText = fc.oneof(
  fc.string({ unit: 'grapheme-composite', maxLength: 40 }),
  fc.string({ unit: fc.constantFrom(...'\'"`$(){};&|<>\\ \n#*aE=!'), maxLength: 20 }),
)
const storable = anyText.filter((text) => !/[\0\p{Cs}]/u.test(text))

function output(interpreter: Interpreter, script: string, value: string): string {
  const { text, unresolved } = renderTemplate(script, { value }, interpreter)
  expect(unresolved).toEqual([])
  const options = { input: text, encoding: 'utf8' as const, env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' } }
  const { status, stdout, stderr } = spawnSync(interpreter, ['-'].slice(interpreter.endsWith('sh') ? 1 : 0), options)
  expect({ status, stderr, value }).toEqual({ status: 0, stderr: '', value })
  return stdout
}

/** Renders many values with one interpreter process. A marker separates the outputs. */
function outputs(interpreter: Interpreter, print: (name: string) => string, values: string[]): string[] {
  const script = values.map((_, index) => print(`value_${index}`)).join('\n')
  const named = Object.fromEntries(values.map((value, index) => [`value_${index}`, value]))
  const { text } = renderTemplate(script, named, interpreter)
  const args = interpreter.endsWith('sh') ? [] : ['-']
  const { stdout, stderr } = spawnSync(interpreter, args, {
    input: text,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' },
  })
  expect(stderr).toBe('')
  return stdout.split('\u0001').slice(0, -1)
}

const PRINT: Partial<Record<Interpreter, (name: string) => string>> = {
  sh: (name) => `printf '%s\\001' {{ ${name} }}`,
  bash: (name) => `printf '%s\\001' {{ ${name} }}`,
  python3: (name) => `import sys; sys.stdout.buffer.write(({{ ${name} }} + "\\x01").encode())`,
  node: (name) => `process.stdout.write({{ ${name} }} + "\\x01")`,
}

describe.each(Object.entries(PRINT) as [Interpreter, (name: string) => string][])('%s', (interpreter, print) => {
  test('prints hostile values unchanged', () => {
    expect(outputs(interpreter, print, HOSTILE)).toEqual(HOSTILE)
  })

  test('prints any value unchanged', () => {
    const many = fc.array(
      storable.filter((text) => !text.includes('\u0001')),
      { minLength: 50, maxLength: 100 },
    )
    fc.assert(
      fc.property(many, (values) => {
        expect(outputs(interpreter, print, values)).toEqual(values)
      }),
      { numRuns: 5 },
    )
  })
})

describe('a template in a shell script', () => {
  const places: [string, string, (value: string) => string][] = [
    ['bare', "printf '%s' {{ value }}", (value) => value],
    ['joined to other text', "printf '%s' a{{ value }}b", (value) => `a${value}b`],
    ['in double quotes', 'printf \'%s\' "a {{ value }} b"', (value) => `a ${value} b`],
    ['in single quotes', 'printf \'%s\' \'{"version": "{{ value }}"}\'', (value) => `{"version": "${value}"}`],
    ['in a substitution in quotes', 'printf \'%s\' "$(printf \'%s.\' "{{ value }}")"', (value) => `${value}.`],
    ['in a comment', "# about {{ value }}, don't\nprintf ok", () => 'ok'],
    ['after escaped quotes', "printf '%s' \\\"{{ value }}\\'", (value) => `"${value}'`],
    ['in a here-document', 'cat <<EOF\n"a" {{ value }}\nEOF\nprintf ok', (value) => `"a" ${value}\nok`],
    [
      'in a quoted here-document',
      'cat <<\'EOF\'; cat <<-"TWO"\n$x \\$ `y` {{ value }}\nEOF\n\tb {{ value }} $$\n\tTWO\nprintf ok',
      (value) => `$x \\$ \`y\` ${value}\nb ${value} $$\nok`,
    ],
    ['after arithmetic', 'printf \'%s\' $((1<<2))"{{ value }}"', (value) => `4${value}`],
  ]

  test.each(places)('%s renders the value unchanged', (_, script, expected) => {
    for (const value of HOSTILE) expect(output('sh', script, value)).toBe(expected(value))
  })

  // The parser does not understand every shell script. A value must not become code even where it is wrong.
  test('never executes a value, even if quotes are misread', () => {
    const fragments = [
      `'`,
      '"',
      '`',
      '$(',
      ')',
      '\\',
      '#',
      ' ',
      '\n',
      ';',
      '<<EOF\n',
      "<<'EOF'\n",
      'EOF\n',
      ' {{ value }} ',
      "$'",
    ]
    const scripts = fc.array(fc.constantFrom(...fragments), { minLength: 1, maxLength: 12 })
    const attack = '\nexit 99;`exit 99`$(exit 99)\';exit 99;\'";exit 99;"\nEOF\nexit 99\n'
    fc.assert(
      fc.property(scripts, (parts) => {
        const { text } = renderTemplate(`:${parts.join('')}`, { value: attack }, 'sh')
        expect(spawnSync('sh', [], { input: text }).status).not.toBe(99)
      }),
      { numRuns: 150 },
    )
  })
})

test('a literal contains no characters that could end its quotes', () => {
  for (const interpreter of ['python3', 'node', 'pwsh'] as const) {
    for (const value of HOSTILE) {
      const { text } = renderTemplate('{{value}}', { value }, interpreter)
      expect(text).toMatch(/^"(?:[A-Za-z0-9_. ]|\\U[0-9a-f]{8}|\\u\{[0-9a-f]+\}|`u\{[0-9a-f]+\})*"$/)
    }
  }
})

test('numbers, booleans and JSON are rendered as text', () => {
  const values = { n: 1.5, yes: true, list: [1, 'a'] }
  expect(renderTemplate('f({{n}}, {{yes}}, {{list}})', values, 'node').text).toBe(
    'f("1.5", "true", "\\u{5b}1\\u{2c}\\u{22}a\\u{22}\\u{5d}")',
  )
})

test('names without a value are left unchanged and reported once', () => {
  const script = 'echo {{ unknown }} {{unknown}} {{ .Values.x }} {{ toString }} {{}}'
  expect(renderTemplate(script, { other: 'x' }, 'sh')).toEqual({ text: script, unresolved: ['unknown', 'toString'] })
  expect(templateNames('{{a}} {{ b }} {{a}}')).toEqual(['a', 'b'])
})
