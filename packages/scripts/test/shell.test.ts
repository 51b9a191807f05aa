// Where a value may stand in a shell script, compared with real shells.
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { readScript } from '../src/index.ts'
import { ATTACKS, run, templateOf, withValue } from './run.ts'

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: these are shell variables
/** Each prints the value and a dot, because shells drop line ends at the end of $( … ). */
const ANY_SHELL = [
  `printf '%s.' {{ value }}`,
  `printf '%s.' "{{ value }}"`,
  `printf '%s.' '{{ value }}'`,
  `printf '%s' pre{{ value }}post | { IFS= read -r a; cat >/dev/null; }; printf '%s.' "{{ value }}"`,
  `v={{ value }}; printf '%s.' "$v"`,
  `v="a{{ value }}"; printf '%s.' "\${v#a}"`,
  `export V='{{ value }}'; printf '%s.' "$V"`,
  `V={{ value }} sh -c 'printf "%s." "$V"'`,
  `sh -c 'printf "%s." "$1"' _ {{ value }}`,
  `env V={{ value }} sh -c 'printf "%s." "$V"'`,
  `for v in {{ value }}; do printf '%s.' "$v"; done`,
  `case {{ value }} in *) printf '%s.' "{{ value }}";; esac`,
  `f() { printf '%s.' "$1"; }\nf "{{ value }}"`,
  `printf '%s' "$(case a in a) printf '%s.' '{{ value }}';; esac)"`,
  `printf '%s' "$(printf '%s.' "{{ value }}")"`,
  `printf '%s.' "\${unset:-{{ value }}}"`,
  `printf '%s.' \${unset:-{{ value }}}`,
  `if [ "{{ value }}" = x ]; then :; fi; printf '%s.' {{ value }}`,
  `[ -f {{ value }} ] || printf '%s.' {{ value }}`,
  `printf '%s.' {{ value }} > 'out'; cat out; rm out`,
  `{ printf '%s.' {{ value }}; } 2>/dev/null`,
  `( printf '%s.' {{ value }} )`,
  `true && printf '%s.' {{ value }} || false`,
  `# {{ value }}\nprintf '%s.' {{ value }}`,
  `command -v {{ value }} >/dev/null 2>&1; printf '%s.' {{ value }}`,
  `test {{ value }} = a; printf '%s.' {{ value }}`,
  `printf '%s' "\`printf '%s.' x\`" >/dev/null; printf '%s.' {{ value }}`,
]
const ONLY_BASH = [
  `printf '%s.' $'{{ value }}'`,
  `arr=({{ value }} b); printf '%s.' "\${arr[0]}"`,
  `local_() { local v="{{ value }}"; printf '%s.' "$v"; }; local_`,
  `[[ {{ value }} == "{{ value }}" ]] && printf '%s.' {{ value }}`,
  `[[ -n {{ value }} ]]; printf '%s.' {{ value }}`,
  `f() { printf '%s.' "\${2#2}"; }; f {1,2}{{ value }}`,
  `f() { printf '%s.' "\${1%/1}"; }; f {{ value }}/{1,2}`,
]
/** The last line end is the one of the document. */
const DOCUMENTS = [
  `cat <<EOF\n{{ value }}\nEOF`,
  `cat <<'EOF'\n{{ value }}\nEOF`,
  `cat <<"E O F"\n{{ value }}\nE O F`,
  `cat <<\\END-X\n{{ value }}\nEND-X`,
  `cat <<!\n{{ value }}\n!`,
  `cat <<EOF | sed 1d\n\n{{ value }}\nEOF`,
  `cat <<-EOF\n\t{{ value }}\n\tEOF`,
  `cat <<'EOF' | cat\n{{ value }}\nEOF`,
  `v="$(cat <<EOF\n{{ value }}.\nEOF\n)"; printf '%s\\n' "\${v%.}"`,
]
const REFUSED = [
  `eval "{{ value }}"`,
  `eval "$(cat <<EOF\n{{ value }}\nEOF\n)"`,
  `sh -c "echo {{ value }}"`,
  `sudo -u app env A=1 bash -ec 'echo {{ value }}'`,
  `timeout 5 sh -c "echo {{ value }}"`,
  `find . -exec sh -c "echo {{ value }}" \\;`,
  `echo {{ value }} | sh`,
  `cat <<EOF | bash -s\n{{ value }}\nEOF`,
  `bash <<EOF\n{{ value }}\nEOF`,
  `{ sh; } <<EOF\n{{ value }}\nEOF`,
  `read {{ value }}`,
  `unset {{ value }}`,
  `export {{ value }}`,
  `export "{{ value }}=1"`,
  `trap "{{ value }}" EXIT`,
  `alias a="{{ value }}"`,
  `. {{ value }}`,
  `{{ value }} a`,
  `sudo {{ value }}`,
  `env {{ value }} a`,
  `exec {{ value }}`,
  `if {{ value }}; then :; fi`,
  `{{ value }}=1`,
  `for {{ value }} in a; do :; done`,
  `echo \${{{ value }}}`,
  `echo $` + `{{ value }}`,
  `echo \\{{ value }}`,
  `echo "\\{{ value }}"`,
  `echo ~{{ value }}`,
  `echo {a,{{ value }}}`,
  `echo {1..{{ value }}}`,
  `echo {a,b}{c,{{ value }}{d}}`,
  `PS4={{ value }}`,
  `IFS={{ value }}`,
  `env BASH_ENV={{ value }} a`,
  `python3 -c "print('{{ value }}')"`,
  `python3 {{ value }} {{ value }}`,
  `test {{ value }} "$b"`,
  `[ -v {{ value }} ]`,
  `printf -v {{ value }} a`,
  `printf {{ value }} a`,
  'cat <<EOF\n`eval {{ value }}`\nEOF',
  'echo ${x:-`eval {{ value }}`}',
  `ev\\
al "{{ value }}"`,
  'sh -c -e "{{ value }}"',
  'sudo -nu app sh -ceu "{{ value }}"',
  '"$SHELL" -c "{{ value }}"',
  'docker exec c python3 -c "{{ value }}"',
  'runuser root -c "{{ value }}"',
  `sh -euo errexit <<EOF\n{{ value }}\nEOF`,
  `sudo -iu app <<EOF\n{{ value }}\nEOF`,
  `echo {{ value }} | sh $OPTS`,
  `echo {{ value }} | sh -c 'eval "$(cat)"'`,
  `echo {{ value }} | case a in a) sh;; esac`,
  `. /dev/stdin <<EOF\n{{ value }}\nEOF`,
  `run() { bash -s; }\nrun <<EOF\n{{ value }}\nEOF`,
  `env -S"sh -c '{{ value }}'"`,
  `env "BASH_ENV={{ value }}" a`,
  `test a = a -a {{ value }} {{ value }}`,
  'x=`printf %s "a\\\\{{ value }}"`',
  'for PS4 in {{ value }}; do :; done',
  'read -r PS4 <<EOF\n{{ value }}\nEOF',
  `cat <<{{ value }}\na\n`,
  `echo 'unclosed {{ value }}`,
]
const REFUSED_BY_BASH = [
  'echo a >&{{ value }}',
  'a=(1); declare a={{ value }}',
  'a=([ {{ value }} ]=x)',
  'a=(x [1 + {{ value }}]=2)',
  '"$\\\n(( {{ value }} ))"',
  'a\\\n[{{ value }}]=x',
  'echo {{ value }} | tee >(bash)',
  'f() { echo "{{ value }}"; }; export -f f',
  `$'eval' "{{ value }}"`,
  'coproc N { eval "{{ value }}"; }',
  'mapfile -C eval -c 1 <<< "{{ value }}"',
  'echo ${!r:={{ value }}}',
  'bash -O extglob <<< "{{ value }}"',
]
const REFUSED_BY_SH = [`printf '%s' $'{{ value }}'`, `cat <<< {{ value }}`, `a=({{ value }})`, `[[ {{ value }} ]]`]
const NUMBERS = [
  ['echo $(( {{ value }} + 1 ))', '6'],
  ['n=$((2*{{ value }})); echo $n', '10'],
] as const
const BASH_NUMBERS = [
  ['(( n = {{ value }} )); echo $n', '5'],
  ['a[{{ value }}]=x; echo ${a[5]}', 'x'],
  ['s=0123456789; echo ${s:{{ value }}:2}', '56'],
  ['[[ 4 -lt {{ value }} ]] && echo yes', 'yes'],
  ['declare -i n; n={{ value }}; echo $n', '5'],
  ['declare -i a=$((1|2)) n; n={{ value }}; echo $n', '5'],
  ['declare -ai n; n=({{ value }}); echo ${n[0]}', '5'],
  ['OPTIND={{ value }}; echo $OPTIND', '5'],
  ['for ((i=0;i<{{ value }};i++)); do :; done; echo $i', '5'],
] as const
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above

const cases = [
  ...ANY_SHELL.flatMap((script) => [['sh', 'dash', script] as const, ['bash', 'bash', script] as const]),
  ...ONLY_BASH.map((script) => ['bash', 'bash', script] as const),
]
const documents = DOCUMENTS.flatMap((script) => [['sh', 'dash', script] as const, ['bash', 'bash', script] as const])

/** Many scripts in one process: each in a subshell, with a separator behind it. */
async function outputs(interpreter: 'sh' | 'bash', program: 'dash' | 'bash', script: string, values: string[]) {
  const parts = await Promise.all(values.map((value) => withValue(`(\n${script}\n)\n`, value, interpreter)))
  const { stdout, files } = run(program, parts.map((part) => `(${part})\nprintf '\\001'\n`).join(''))
  expect(files).toEqual([])
  return stdout.split('\u0001').slice(0, -1)
}

const text = fc
  .oneof(
    fc.string({ unit: 'grapheme-composite', maxLength: 30 }),
    fc.string({ unit: fc.constantFrom(...'\'"`$(){};&|<>\\ \n#*aE=![]-'), maxLength: 20 }),
  )
  .filter((value) => !value.includes('\u0000') && !value.includes('\u0001') && !/\p{Cs}/u.test(value))

describe('a value arrives to the byte, and nothing in it runs', () => {
  test.each(cases)('%s (%s): %s', async (interpreter, program, script) => {
    const values = [...ATTACKS, ...fc.sample(text, 20)]
    expect(await outputs(interpreter, program, script, values)).toEqual(values.map((value) => `${value}.`))
  })

  test.each(documents)('%s (%s): %s', async (interpreter, program, script) => {
    const values = [...ATTACKS, ...fc.sample(text, 20)]
    expect(await outputs(interpreter, program, script, values)).toEqual(values.map((value) => `${value}\n`))
  })
})

describe('a text is refused', () => {
  test.each(REFUSED.flatMap((script) => [['sh', script] as const, ['bash', script] as const]))(
    '%s: %s',
    async (interpreter, script) => {
      for (const value of ATTACKS)
        await expect(withValue(script, value, interpreter)).rejects.toThrow(/line \d+, column \d+/)
    },
  )

  test.each(REFUSED_BY_BASH)('by bash: %s', async (script) => {
    await expect(withValue(script, 'a[$(touch X)]', 'bash')).rejects.toThrow(/line \d+, column \d+/)
  })

  test.each(REFUSED_BY_SH)('by sh: %s', async (script) => {
    await expect(withValue(script, 'a', 'sh')).rejects.toThrow()
  })
})

describe('only an integer is allowed', () => {
  test.each([
    ...NUMBERS.flatMap((each) => [['sh', 'dash', ...each] as const, ['bash', 'bash', ...each] as const]),
    ...BASH_NUMBERS.map((each) => ['bash', 'bash', ...each] as const),
  ])('%s (%s): %s', async (interpreter, program, script, printed) => {
    for (const value of [...ATTACKS, '1.5', '08', '']) {
      await expect(withValue(script, value, interpreter)).rejects.toThrow('not an integer')
    }
    expect(run(program, await withValue(script, 5, interpreter)).stdout).toBe(`${printed}\n`)
  })
})

/** Random scripts of lines with quotes, substitutions and here-documents. */
const word = fc.constantFrom(
  '{{ value }}',
  'a',
  '"b c"',
  "'d'",
  '"{{ value }}"',
  "'{{ value }}'",
  'x{{ value }}y',
  '$(echo {{ value }})',
  '"$(echo "{{ value }}")"',
)
const line = fc
  .tuple(fc.constantFrom('echo', "printf '%s\\n'", 'v='), fc.array(word, { minLength: 1, maxLength: 3 }))
  .map(([command, words]) => (command === 'v=' ? `v=${words[0]}; echo "$v"` : `${command} ${words.join(' ')}`))
const delimiter = fc.constantFrom('EOF', '!', 'END-X', 'a.b', '_', '%%', 'E1')
const quoting = fc.constantFrom(
  (d: string) => d,
  (d: string) => `'${d}'`,
  (d: string) => `"${d}"`,
  (d: string) => `\\${d}`,
)
const document = fc
  .tuple(
    delimiter,
    quoting,
    fc.array(
      fc.constantFrom('{{ value }}', 'port={{ value }}', '$HOME', '`echo a`', '\\$x \\\\', '"q" \'q\'', '#{{ value }}'),
      { maxLength: 4 },
    ),
  )
  .map(([word, quote, lines]) => `cat <<${quote(word)}\n${lines.map((each) => `${each}\n`).join('')}${word}`)
const script = fc
  .array(fc.oneof(line, document), { minLength: 1, maxLength: 5 })
  .map((lines) => `HOME=/home\n${lines.join('\n')}\n`)

test('a random script prints what it prints with the value written by hand', async () => {
  await fc.assert(
    fc.asyncProperty(script, fc.constantFrom('sh' as const, 'bash' as const), async (script, interpreter) => {
      const { refused } = await templateOf(script, interpreter)
      fc.pre(refused.length === 0)
      const byHand = script.replaceAll('{{ value }}', '8080')
      const program = interpreter === 'sh' ? 'dash' : 'bash'
      expect(run(program, await withValue(script, '8080', interpreter))).toEqual(run(program, byHand))
    }),
    { numRuns: 25 },
  )
})

test.each([
  ['for a in {{ value }}; do echo "$a"; done', 1],
  ['for a in "{{ value }}"; do echo "$a"; done', 0],
  ['for a in {{ value }} b; do echo "$a"; done', 0],
])('a loop over one template alone is warned of: %s', async (script, count) => {
  expect((await readScript(script, 'sh')).warnings).toHaveLength(count)
})

test('a comment gets no value, and its template is not counted', async () => {
  expect(await templateOf('# {{ value }}\necho a', 'sh')).toEqual({ places: [], refused: [], documents: [] })
})
