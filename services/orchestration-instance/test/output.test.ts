import { spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { waitFor } from '@slipway/testing'
import fc from 'fast-check'
import { CommandOutput } from '../src/output/command-output.ts'
import { EventLoopShare } from '../src/output/event-loop-share.ts'
import { LineSplitter } from '../src/output/line-splitter.ts'
import { Masker } from '../src/output/masking.ts'
import { OutputLimit } from '../src/output/output-limit.ts'
import { Tail } from '../src/output/tail.ts'

const nothing = new Masker([])

/** The lines of an output that arrives in these chunks. */
function linesOf(chunks: readonly Buffer[], masker = nothing) {
  const splitter = new LineSplitter(masker)
  return [...chunks.flatMap((chunk) => splitter.write(chunk)), ...splitter.end()]
}

/** Cuts bytes at these places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...sorted].map((start, index) => bytes.subarray(start, sorted[index] ?? bytes.length))
}

const places = fc.array(fc.nat({ max: 1_000_000 }), { maxLength: 12 })

describe('lines', () => {
  test('are the same however the output is cut into chunks', () => {
    const pieces = fc.constantFrom(
      'a',
      'é',
      '😀',
      '\n',
      '\r\n',
      '\r',
      '\0',
      'secret-value',
      'x'.repeat(40_000),
      '\uFEFF',
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 14 }), places, (text, at) => {
        const bytes = Buffer.from(text.join(''))
        const masker = new Masker(['secret-value'])
        expect(linesOf(cut(bytes, at), masker)).toEqual(linesOf([bytes], masker))
      }),
    )
  })

  /** What a terminal shows: text after a carriage return replaces the text before it. */
  const shownOf = (line: string) => line.replace(/\r+$/, '').split('\r').at(-1)

  test('joined again are the written text, as a terminal shows it', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'é', '😀', '\n', '\r', '\0', ' '), maxLength: 60 }),
        places,
        (text, at) => {
          const lines = linesOf(cut(Buffer.from(text), at)).map((line) => line.text)
          const written = text.replaceAll('\0', '\uFFFD').split('\n').map(shownOf)
          expect(lines).toEqual(written.at(-1) === '' ? written.slice(0, -1) : written)
        },
      ),
    )
  })

  test('have U+FFFD in place of bytes that are not UTF-8, also at the very end', () => {
    expect(linesOf([Buffer.from([0x61, 0xff, 0x62, 0xc3])])).toEqual([{ text: 'a\uFFFDb\uFFFD', split: false }])
  })

  test('without end are split into pieces of 64 KiB, so that they do not fill the memory', () => {
    const splitter = new LineSplitter(new Masker(['secret-value']))
    const chunk = Buffer.from('0123456789'.repeat(10_000))
    const pieces = Array.from({ length: 50 }, () => splitter.write(chunk)).flat()
    expect(pieces.length).toBe(Math.floor(5_000_000 / 65_536))
    expect(new Set(pieces.map(({ text, split }) => `${text.length} ${split}`))).toEqual(new Set(['65536 true']))
    expect([...pieces, ...splitter.end()].map(({ text }) => text).join('')).toBe('0123456789'.repeat(500_000))
  })

  test('have no secret left at the border of two pieces of a long line', () => {
    for (const before of [65_530, 65_536, 100_000, 131_065]) {
      const text = `${'x'.repeat(before)}secret-value${'y'.repeat(200_000)}`
      const chunks = Buffer.from(text)
      for (const size of [1_000, 65_536, 1_000_000]) {
        const cuts = Array.from({ length: Math.ceil(chunks.length / size) }, (_, index) =>
          chunks.subarray(index * size, (index + 1) * size),
        )
        const joined = linesOf(cuts, new Masker(['secret-value'])).map((line) => line.text)
        expect(joined.join('')).toBe(`${'x'.repeat(before)}***${'y'.repeat(200_000)}`)
      }
    }
  })
})

describe('masking', () => {
  test('finds the value in the encodings in which programs print it', () => {
    const value = `p@ss 'w"ö\\rd/+`
    const masker = new Masker([value])
    const bytes = Buffer.from(value)
    const forms = [
      value,
      JSON.stringify(value).slice(1, -1),
      encodeURIComponent(value),
      encodeURIComponent(value).toLowerCase(),
      new URLSearchParams({ v: value }).toString().slice(2).replaceAll('%27', "'"),
      bytes.toString('hex'),
      bytes.toString('hex').toUpperCase(),
      bytes.toString('base64'),
      bytes.toString('base64url'),
      value.replaceAll("'", "'\\''"),
    ]
    for (const form of forms) expect(masker.mask(`<${form}>`)).toBe('<***>')
    for (const before of ['', 'a', 'ab', 'abc']) {
      for (const after of ['', 'z', 'yz']) {
        const encoded = Buffer.from(before + value + after).toString('base64')
        const masked = masker.mask(encoded)
        // The characters left at each end encode less than one byte of the value.
        expect(masked.replace('***', '').length).toBeLessThanOrEqual(before.length + after.length + 8)
        expect(masked).toContain('***')
      }
    }
  })

  test('hides every line of a value that has four characters or more', () => {
    const masker = new Masker(['first line\n  second line\r\nabc\n', 'xy'])
    expect(['first line', 'second line', 'abc', 'xy'].map((text) => masker.mask(text))).toEqual([
      '***',
      '***',
      'abc',
      'xy',
    ])
  })

  test('hides the base64 of a long value line by line', () => {
    const value = 'a long secret '.repeat(20)
    const encoded = Buffer.from(value).toString('base64')
    const masker = new Masker([value])
    for (const width of [64, 76]) {
      for (const line of encoded.match(new RegExp(`.{1,${width}}`, 'g')) ?? []) expect(masker.mask(line)).toBe('***')
    }
  })

  test('hides overlapping values, and values that look like a regular expression', () => {
    expect(new Masker(['abcdef', 'defghi']).mask('-abcdefghi-')).toBe('-***-')
    expect(new Masker(['abab']).mask('ababab')).toBe('***')
    expect(new Masker(['a.*b$']).mask('a.*b$ axxb')).toBe('*** axxb')
  })

  test('hides every value in an output that is cut at any byte', () => {
    const value = fc.string({ minLength: 4, maxLength: 12, unit: fc.constantFrom('a', 'b', '*', 'é', '😀') })
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 3 }), fc.string(), places, (values, noise, at) => {
        const plain = values.filter((text) => !text.includes('***'))
        fc.pre(plain.length > 0)
        const bytes = Buffer.from(`${noise}${plain.join(noise)}${noise}`)
        for (const { text } of linesOf(cut(bytes, at), new Masker(plain))) {
          for (const secret of plain) expect(text.replaceAll('***', '\n')).not.toContain(secret)
        }
      }),
    )
  })
})

describe('the masker hides a secret that is printed by', () => {
  const secret = `zebra's "a" \\ $ecret/+%41 é日😀\nand a second quokka & more~`
  const PYTHON = `import base64, json, os, shlex, urllib.parse as url
s = os.environ["S"]
print(url.quote(s), url.quote(s, safe=""), url.quote_plus(s), shlex.quote(s), json.dumps(s), json.dumps(json.dumps(s)))
print(base64.encodebytes(s.encode() * 3).decode())`
  const COMMANDS: [string, string[]][] = [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell's, not ours
    ['bash', ['-c', 'printf "%q " "$S"; echo "${S@Q}"; set | grep -a -A1 ^S=; declare -p S']],
    ['bash', ['-c', 'env printf "%q" "$S"']],
    ['bash', ['-xc', ': "$S"']],
    ['bash', ['-c', 'for n in 1 3 20 64 76 0; do printf %s "$S" | base64 -w $n; echo "user:$S" | base64 -w $n; done']],
    ['python3', ['-c', PYTHON]],
    [
      'node',
      [
        '-e',
        'const { S } = process.env; console.log("%s", JSON.stringify({ S }, null, 2) + encodeURI(S) + escape("-"))',
      ],
    ],
  ]
  const cases = COMMANDS.flatMap(([name, args]) => ['C', 'C.UTF-8'].map((locale) => ({ name, args, locale })))

  test.each(cases)('$name $args in the locale $locale', ({ name, args, locale }) => {
    // Without SHLVL, bash behaves as if a network daemon had started it, and reads ~/.bashrc.
    const env = { PATH: process.env['PATH'] ?? '', S: secret, LC_ALL: locale, SHLVL: '1' }
    const { stdout, stderr, status } = spawnSync(name, args, { env })
    expect(status).toBe(0)
    const shown = linesOf([stdout, stderr], new Masker([secret]))
      .map(({ text }) => text)
      .join('')
    expect(shown).toContain('***')
    expect(shown).not.toMatch(/zebra|ecret|second|quokka/)
    const encoded = Buffer.from(secret).toString('base64')
    for (let at = 4; at + 8 <= encoded.length; at += 1) expect(shown).not.toContain(encoded.slice(at, at + 8))
  })
})

describe('a line that may end with the beginning of a secret', () => {
  const masker = new Masker(['test-secret'])
  const encoded = Buffer.from('test-secret').toString('base64')
  const shown: string[] = []
  const output = () => {
    shown.length = 0
    const onLine = (_: string, { text }: { text: string }) => shown.push(text)
    return new CommandOutput(masker, { maxBytes: 1_000_000, onLine, onPartialLine, onCut() {}, onLeftOut() {} })
  }
  const partial: string[] = []
  const onPartialLine = (_: string, text: string) => partial.push(text)

  test('is shown before its end without that beginning, and again with each change', async () => {
    const waiting = output()
    waiting.write('stdout', Buffer.from('done\n 10%\r 20%, test'))
    await waitFor(() => partial.length === 1)
    expect(partial).toEqual([' 20%, '])
    waiting.write('stdout', Buffer.from('-secret'))
    await waitFor(() => partial.length === 2)
    waiting.write('stdout', Buffer.from('\rdone\r\n'))
    waiting.end()
    expect([partial, shown]).toEqual([
      [' 20%, ', ' 20%, ***'],
      ['done', 'done'],
    ])
  })

  test('is shown after a moment, if it has fewer than four characters of the secret', async () => {
    const waiting = output()
    waiting.write('stdout', Buffer.from(`plain\nends with ${encoded.slice(0, 3)}\n`))
    expect(shown).toEqual(['plain'])
    await waitFor(() => shown.length === 2)
    expect(shown[1]).toBe(`ends with ${encoded.slice(0, 3)}`)
    waiting.write('stdout', Buffer.from(`${encoded.slice(3)}\nnext\n`))
    expect(shown.slice(2)).toEqual(['***', 'next'])
    waiting.end()
  })

  test('is held until more output comes, if it has more characters of the secret', async () => {
    const waiting = output()
    waiting.write('stdout', Buffer.from(`ends with ${encoded.slice(0, 6)}\n`))
    await sleep(600)
    expect(shown).toEqual([])
    waiting.write('stdout', Buffer.from(encoded.slice(6)))
    waiting.end()
    expect(shown).toEqual(['ends with ***', '***'])
  })
})

describe('a limit', () => {
  /** What the limit lets through of these lines. */
  function limited(maxBytes: number, lines: readonly string[]): string[] {
    const seen: string[] = []
    const limit = new OutputLimit({
      maxBytes,
      onLine: (stream, { text }) => seen.push(`${stream} ${text}`),
      onCut: () => seen.push('cut'),
      onLeftOut: ({ lines, bytes }) => seen.push(`${lines} lines, ${bytes} bytes`),
    })
    for (const [n, text] of lines.entries()) limit.add(n % 2 === 0 ? 'stdout' : 'stderr', { text, split: false })
    limit.end()
    return seen
  }

  test('keeps an output of exactly its size unchanged', () => {
    expect(limited(8, ['a', 'b', 'c', 'd'])).toEqual(['stdout a', 'stderr b', 'stdout c', 'stderr d'])
    expect(limited(8, [])).toEqual([])
  })

  test('keeps the beginning and the end of both streams in order, and reports the missing lines and bytes', () => {
    expect(limited(8, ['a', 'b', 'c', 'd', 'e', 'f', 'g'])).toEqual([
      ...['stdout a', 'stderr b', 'cut'],
      ...['3 lines, 6 bytes', 'stderr f', 'stdout g'],
    ])
    expect(limited(8, ['a', 'ééé', 'c', 'd'])).toEqual(['stdout a', 'cut', '1 lines, 7 bytes', 'stdout c', 'stderr d'])
  })

  test('loses no line and counts no line twice, for lines of any length', () => {
    const text = fc.string({ unit: fc.constantFrom('x', 'é', '😀'), maxLength: 30 })
    fc.assert(
      fc.property(fc.array(text, { maxLength: 60 }), fc.integer({ min: 8, max: 400 }), (lines, maxBytes) => {
        const seen = limited(maxBytes, lines)
        const bytesOf = (texts: readonly string[]) => texts.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)
        const kept = seen.filter((line) => /^std/.test(line)).map((line) => line.slice(7))
        const [missing = 0, missingBytes = 0] = seen
          .flatMap((line) => /^(\d+) lines, (\d+)/.exec(line)?.slice(1) ?? [])
          .map(Number)
        expect(kept.length + missing).toBe(lines.length)
        expect(bytesOf(kept) + missingBytes).toBe(bytesOf(lines))
        expect(bytesOf(kept)).toBeLessThanOrEqual(maxBytes)
        const head = missing === 0 ? kept.length : seen.indexOf('cut')
        expect(kept.slice(0, head)).toEqual(lines.slice(0, head))
        expect(kept.slice(head)).toEqual(lines.slice(lines.length - (kept.length - head)))
      }),
    )
  })
})

test('a tail is the end of the output, without half a character at its beginning', () => {
  const tail = new Tail()
  expect(tail.text).toBe('')
  for (let n = 0; n < 2_000; n++) tail.addLine(`line ${n}`)
  expect(tail.text).toHaveLength(2_000)
  expect(tail.text.endsWith('line 1998\nline 1999')).toBe(true)
  tail.addLine(`😀${'x'.repeat(1_999)}`)
  expect(tail.text).toBe('x'.repeat(1_999))
})

test('work that takes long lets other work go on between its parts, and keeps its order', async () => {
  const share = new EventLoopShare()
  const seen: string[] = []
  /** Uses a whole turn of the event loop. */
  const part = (name: string) => () => {
    const end = performance.now() + 6
    while (performance.now() < end);
    seen.push(name)
    setImmediate(() => seen.push('other work'))
  }
  await Promise.all(['one', 'two', 'three'].map((name) => share.run(part(name))))
  expect(seen).toEqual(['one', 'other work', 'two', 'other work', 'three'])
})

test('a masker that is built in parts hides the same as one that is built at once', async () => {
  const values = Array.from({ length: 300 }, (_, n) => ({
    password: `${n}-secret-${'x'.repeat(n)}`,
    list: [`é${n}😀${n}`],
  }))
  const output = values.flatMap((value) => [JSON.stringify(value), value.password, 'plain']).join('\n')
  const masked = (await Masker.build(values)).mask(output)
  expect(masked).toBe(new Masker(values).mask(output))
  expect(new Set(masked.split('\n'))).toEqual(new Set(['***', 'plain']))
})
