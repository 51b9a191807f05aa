import { describe, expect, test } from '@jest/globals'
import { COMMAND_FAILURE_REASONS } from '@slipway/domain'
import fc from 'fast-check'
import { analyse, type Failure, RULES, RULES_VERSION } from '../../src/analysis/index.ts'
import { REAL } from './real.ts'
import { VERBATIM } from './verbatim.ts'

const AT = '2026-01-31T09:00:02.000Z'

const failureOf = (fields: Partial<Failure> = {}): Failure => {
  const exit_code = fields.exit_code === undefined ? 1 : fields.exit_code
  const ended = { exit_code, error_message: `exit code ${exit_code}`, reason: null, subject: null }
  return { ...ended, stdout_tail: '', stderr_tail: '', ...fields }
}
const said = (stderr_tail: string, fields: Partial<Failure> = {}) => analyse(failureOf({ stderr_tail, ...fields }), AT)

describe('the rules', () => {
  test('are at least 60, with unique ids and an example each', () => {
    expect(RULES.length).toBeGreaterThanOrEqual(60)
    expect(new Set(RULES.map(({ id }) => id)).size).toBe(RULES.length)
    const shown = new Set([...REAL.flatMap(({ rules }) => rules), ...VERBATIM.map(({ rule }) => rule)])
    expect(RULES.map(({ id }) => id).filter((id) => !shown.has(id))).toEqual([])
  })

  test.each(VERBATIM)(
    '$rule explains the output of $tool: $stderr$stdout$error',
    ({ rule, stderr, stdout, error, reason = null, subject = null, exit = 1 }) => {
      const failure = failureOf({
        exit_code: exit,
        error_message: error ?? `exit code ${exit}`,
        reason,
        subject,
        stdout_tail: stdout ?? '',
        stderr_tail: stderr ?? '',
      })
      const found = analyse(failure, AT)
      expect({ found: found.rule, ...found.analysis }).toMatchObject({ found: rule })
    },
  )

  test('cover every failure reason of Slipway', () => {
    const explained = RULES.map(({ reason }) => reason)
    expect(COMMAND_FAILURE_REASONS.filter((reason) => !explained.includes(reason))).toEqual([])
  })

  test('ignore the words of the error if the failure has a reason', () => {
    expect(said('', { exit_code: null, error_message: 'no answer from 10.0.0.5:22' }).rule).toBe('unknown')
    const words = { error_message: 'beyond any pattern', exit_code: null }
    expect(said('', { ...words, reason: 'target_silent' }).rule).toBe('target-silent')
    const { analysis } = said('', { ...words, reason: 'interpreter_missing', subject: 'pwsh' })
    expect(analysis.summary).toContain('pwsh')
    const hostile = said('', { ...words, reason: 'interpreter_missing', subject: '\u0000\ud800pwsh\n' })
    expect(hostile.analysis.summary).toBe('The interpreter pwsh is not installed where the script runs')
  })

  test('need bounded time: at most three open repetitions and no nested ones', () => {
    for (const { id, pattern } of RULES) {
      const source = pattern?.source ?? ''
      const open = source.match(/(?<!\\)[*+]|\{\d+,\}/g) ?? []
      expect({ id, open: open.length }).toEqual({ id, open: Math.min(open.length, 3) })
      expect({ id, nested: /[*+}]\)[*+{]/.test(source) }).toEqual({ id, nested: false })
    }
  })

  test('have a hint for whatever their pattern matches', () => {
    for (const { rule: id, stderr = '', stdout = '', error = '' } of VERBATIM) {
      const rule = RULES.find((one) => one.id === id)
      if (!rule?.pattern) continue
      const text = `${stderr}\n${stdout}\n${error}`
      if (!text.split('\n').some((line) => rule.pattern?.test(line.trim()))) continue
      expect({ id, hinted: rule.hints?.some((hint) => text.toLowerCase().includes(hint)) }).toEqual({
        id,
        hinted: true,
      })
    }
  })
})

describe('an analysis', () => {
  test('quotes its evidence and has every field', () => {
    const { analysis } = said('Fetching\ncurl: (6) Could not resolve host: db.internal\n', { exit_code: 6 })
    expect(Object.keys(analysis).sort()).toEqual(
      ['analyzed_at', 'confidence', 'fingerprint', 'likely_cause', 'model_version', 'remediation', 'summary'].sort(),
    )
    expect(analysis).toMatchObject({ analyzed_at: AT, model_version: RULES_VERSION, summary: expect.any(String) })
    expect(analysis.likely_cause).toContain('“curl: (6) Could not resolve host: db.internal”')
    expect(analysis.confidence).toBeGreaterThan(0.8)
    expect(analysis.remediation.length).toBeGreaterThan(0)
  })

  test('is less confident if more output follows the evidence or if it is in stdout', () => {
    const near = said('No space left on device').analysis.confidence
    const far = said(`No space left on device\n${'went on\n'.repeat(10)}`).analysis.confidence
    const stdout = said('', { stdout_tail: 'No space left on device' }).analysis.confidence
    expect(far).toBeLessThan(near)
    expect(stdout).toBeLessThan(near)
  })

  test('names the timeout of a command that exceeded it, whatever the output', () => {
    const failure = { exit_code: null, error_message: 'killed', reason: 'step_timeout' as const }
    expect(said('curl: (7) Connection refused', failure).rule).toBe('step-timeout')
  })

  test('quotes the last meaningful line of an unknown failure, with a low confidence', () => {
    const { rule, analysis } = said("frobnication impossible\nTry 'frob --help' for more information.\n", {
      exit_code: 9,
    })
    expect(rule).toBe('unknown')
    expect(analysis.summary).toContain('frobnication impossible')
    expect(analysis.confidence).toBeLessThan(0.5)
    expect(said('', { exit_code: 9 }).analysis.summary).toBe('The command failed: exit code 9')
  })

  test('ignores colours, progress bars and carriage returns', () => {
    const esc = String.fromCharCode(27)
    expect(said(`10%\r50%\r${esc}[31mcp: error writing 'x': No space left on device${esc}[0m\r\n`).rule).toBe(
      'disk-full',
    )
  })

  test('is bounded and never fails, for any output', () => {
    const bytes = fc.uint8Array({ maxLength: 6_000 }).map((array) => Buffer.from(array).toString('utf8'))
    const hints = RULES.flatMap(({ hints: own = [] }) => own)
    const words = fc.array(fc.oneof(fc.constantFrom(...hints), fc.string({ maxLength: 8 }), fc.constant('\n')), {
      maxLength: 200,
    })
    const repeated = fc.tuple(fc.constantFrom(...hints, 'a', ': ', '/', "'", '. ', 'a.', '0:', '@'), fc.nat(3_000))
    const text = fc.oneof(
      bytes,
      fc.string({ unit: 'binary', maxLength: 4_000 }),
      words.map((list) => list.join(' ')),
      repeated.map(([word, count]) => word.repeat(count).slice(0, 20_000)),
    )
    const exit = fc.option(fc.integer({ min: -1, max: 300 }))
    const reason = fc.option(fc.constantFrom(...COMMAND_FAILURE_REASONS))
    fc.assert(
      fc.property(text, text, fc.option(text), exit, reason, (stdout_tail, stderr_tail, subject, exit_code, why) => {
        const failure = { stdout_tail, stderr_tail, error_message: subject, exit_code, reason: why, subject }
        const { analysis } = analyse(failure, AT)
        expect(analysis.confidence).toBeGreaterThan(0)
        expect(analysis.confidence).toBeLessThanOrEqual(1)
        expect(analysis.summary).not.toBe('')
        expect(JSON.stringify(analysis).length).toBeLessThan(6_000)
        expect(JSON.stringify(analysis)).not.toMatch(/\\u0000|\\ud[89a-f]/)
        expect(analysis.summary).not.toContain('{what}')
        expect(analysis.fingerprint).toMatch(/^[a-z0-9-]{1,60}$/)
      }),
      { numRuns: 400 },
    )
  })
})

describe('a fingerprint', () => {
  const same = (a: string, b: string, places: [string[], string[]] = [[], []]) => {
    const one = said(a, { places: places[0], exit_code: 3 }).analysis.fingerprint
    expect(said(b, { places: places[1], exit_code: 3 }).analysis.fingerprint).toBe(one)
  }

  test('does not depend on numbers, hosts, addresses, times and random parts of paths', () => {
    same('cannot reach 10.0.0.7 after 12 ms', 'cannot reach 192.168.4.31 after 7 ms')
    same('frob web-01.example.com: refused (id 4f0e9a1b)', 'frob web-27.example.com: refused (id 99aa01bc)')
    same('2026-01-31T09:00:02Z frob gave up', '2026-02-01T10:11:12.345Z frob gave up')
    same(
      'cat: /tmp/tmp.Ab3dEfGhIj/x: No such file or directory',
      'cat: /tmp/tmp.ZZyyXXwwVV/x: No such file or directory',
    )
    same('frob of 8a4f5b8e-1111-4000-8000-00000000000f failed', 'frob of 8a4f5b8e-2222-4000-8000-0000000000aa failed')
    same('cat: /srv/rel-20260131/x: No such file or directory', 'cat: /srv/rel-20260201/x: No such file or directory')
    same('alpha: frob failed', 'omega: frob failed', [['alpha'], ['omega']])
    same('frob: fd00::1 is away', 'frob: 2001:db8:0:0::7 is away')
    same('frob of db.prod.svc.cluster.local is away', 'frob of cache.test.svc.cluster.local is away')
    same('frob of https://a.example/x?token=1 broke', 'frob of http://10.0.0.7:8080/x?token=2 broke')
    same('frob of run a8xk2p9q broke', 'frob of run zz81kd03 broke')
    // The name of a target is replaced only as a whole word.
    same('none of the frobs fit', 'none of the frobs fit', [['one'], ['two']])
    same('build: frob failed\ndeploy failed', 'build: frob failed\nexiting with status 1')
  })

  test('differs for different kinds of failures', () => {
    const kinds = [
      'sh: 1: frob: not found',
      'sh: 1: knob: not found',
      'cat: /etc/a.conf: No such file or directory',
      'cat: /etc/b.conf: No such file or directory',
      'No space left on device',
      'the frob is cold',
      'the frob is hot',
      'too much frob\ndeploy failed',
      'too little frob\ndeploy failed',
      'ModuleNotFoundError: No module named google.cloud.storage',
      'ModuleNotFoundError: No module named google.cloud.pubsub',
      'Exception in thread "main" java.lang.NullPointerException: frob',
      'Exception in thread "main" java.lang.IllegalStateException: frob',
      'cat: app.settings.json: No such file or directory',
      'cat: db.settings.json: No such file or directory',
      'frob of https://a.example/one.tgz broke',
      'frob of https://a.example/two.tgz broke',
      'frob answered with status 402',
      'frob answered with status 418',
      'ORA-00942',
      'ORA-01017',
      'k8s refuses the frob',
      's3 refuses the frob',
      'health check of the frob failed',
      'health check of the knob failed',
    ]
    expect(
      new Set(kinds.map((text) => said(text, { exit_code: text.includes('sh:') ? 127 : 3 }).analysis.fingerprint)).size,
    ).toBe(kinds.length)
  })

  const LAST_WORDS = [
    'deploy: giving up',
    '[error] deploy.sh: exiting with status 1',
    'see the log above for details',
    'ask operations',
  ]

  test('differs for different failures that end with the same words, on either stream', () => {
    const kinds = [
      'licence of the frob expired',
      'the schema of orders does not match the release',
      'ledger: checksum mismatch of accounts',
      'the frob is cold',
      'the frob is hot',
      'quota of the bucket exceeded\nerror: upload of assets did not finish',
      'quota of the account exceeded\nerror: upload of assets did not finish',
      'error: the canary answers slowly\nrolling back\nrestored the last release',
      'error: the canary answers wrongly\nrolling back\nrestored the last release',
    ]
    for (const last of LAST_WORDS) {
      const onStderr = kinds.map((kind) => said(`starting\n${kind}\n${last}`).analysis.fingerprint)
      const onBoth = kinds.map((kind) => said(last, { stdout_tail: `starting\n${kind}\n` }).analysis.fingerprint)
      expect([last, new Set(onStderr).size]).toEqual([last, kinds.length])
      // What is not recognized as an ending says more than stdout without an error.
      if (last !== 'ask operations') expect([last, new Set(onBoth).size]).toEqual([last, kinds.length])
    }
    expect(said('the licence expired\nrestarting the old release\ndeploy: giving up').analysis.summary).toContain(
      'the licence expired',
    )
  })

  test('is the same for any ids, times, hosts, numbers and temporary paths, and differs with the words of any line', () => {
    const hex = (length: number) =>
      fc
        .array(fc.constantFrom(...'0123456789abcdef'), { minLength: length, maxLength: length })
        .map((all) => all.join(''))
    const time = fc.date({ min: new Date('2001-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })
    const places: Record<string, fc.Arbitrary<string>> = {
      id: fc.oneof(
        fc.uuid(),
        hex(40),
        hex(11).map((id) => `0${id}`),
      ),
      time: fc.oneof(
        time.map((at) => at.toISOString()),
        time.map((at) => at.toUTCString()),
        time.map((at) => at.toISOString().slice(11, 19)),
      ),
      host: fc.oneof(
        fc.ipV4(),
        fc.ipV6(),
        fc.constantFrom('0:00:00::', '2:71:96a::', '54:29:170::1'),
        fc
          .tuple(fc.integer({ min: 1, max: 999 }), fc.constantFrom('db', 'web'))
          .map(([n, of]) => `${of}-${n}.prod.example.com`),
      ),
      number: fc.nat(1_000_000).map(String),
      path: fc.oneof(
        hex(10).map((id) => `/tmp/tmp.${id}/x`),
        hex(8).map((id) => `/private/var/folders/ab/${id}/T/tmp${id}/x`),
      ),
    }
    const word = fc.constantFrom('ledger', 'frob', 'canary', 'bucket', 'quota', 'shard', 'tenant', 'journal')
    const verb = fc.constantFrom(
      'is cold',
      'was refused by peers',
      'mismatch',
      'cannot be read',
      'expired',
      'rejected the plan',
    )
    const message = fc.uniqueArray(fc.tuple(word, verb, fc.constantFrom(...Object.keys(places))), {
      minLength: 1,
      maxLength: 2,
      selector: ([subject]) => subject,
    })
    const values = fc.record(places)
    const last = fc.constantFrom(...LAST_WORDS)
    const text = (lines: [string, string, string][], filled: Record<string, string>, end: string) =>
      [...lines.map(([subject, said, place]) => `${subject} of ${filled[place]} ${said}`), end].join('\n')
    fc.assert(
      fc.property(message, values, values, last, fc.nat(2), (lines, one, other, end, at) => {
        const { fingerprint } = said(text(lines, one, end)).analysis
        expect(said(text(lines, other, end)).analysis.fingerprint).toBe(fingerprint)
        expect(said(text([...lines].reverse(), other, end)).analysis.fingerprint).toBe(fingerprint)
        const changed = lines.map(([subject, ...rest], n): [string, string, string] =>
          n === at % lines.length ? ['mainspring', ...rest] : [subject, ...rest],
        )
        expect(said(text(changed, one, end)).analysis.fingerprint).not.toBe(fingerprint)
      }),
      { numRuns: 300 },
    )
  })

  test('depends on the exit code of a command without output', () => {
    const silent = (code: number) =>
      said('', { exit_code: code, error_message: `exit code ${code}` }).analysis.fingerprint
    expect(new Set([3, 4, 5, 6].map(silent)).size).toBe(4)
    expect(silent(3)).toBe(silent(3))
  })

  test('contains no part of the output in clear text', () => {
    expect(said('cat: /etc/secret-name: No such file or directory').analysis.fingerprint).toMatch(
      /^file-missing-[0-9a-f]{8}$/,
    )
  })
})
