import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { RunSpec } from '@slipway/contracts'
import { SLIPWAY_VERSION } from '@slipway/runtime'
import { createGate } from '@slipway/testing'
import { FakeBridge } from './support/fake-bridge.ts'
import { processesWith } from './support/processes.ts'
import { specOf } from './support/specs.ts'
import { TestInstance } from './support/test-instance.ts'
import { eventually } from './support/wait.ts'

const bridge = new FakeBridge()
const instance = new TestInstance(bridge)

beforeAll(async () => {
  await bridge.listen()
  await instance.start()
})

afterAll(async () => {
  expect(bridge.problems).toEqual([])
  await instance.remove()
  await bridge.close()
})

async function run(spec: RunSpec) {
  await bridge.startRun(spec)
  return bridge.finished(spec)
}

/** The events of a run in order, as text such as `a@one try 0` and `a@one completed`. */
function story(spec: RunSpec): string[] {
  const place = ({ target, action }: { target: number; action: number }) => {
    return `${spec.actions[action]?.name}@${spec.targets[target]?.name}`
  }
  return bridge.events(spec).flatMap((event) => {
    switch (event.type) {
      case 'step_started':
        return [`${place(event)} try ${event.attempt}`]
      case 'step_ended':
        return [`${place(event)} ${event.state}`]
      case 'steps_skipped':
        return event.steps.map(([target, action]) => `${place({ target, action })} skipped`)
      case 'rolling_back':
        return ['rolling back']
      case 'rollback_started':
        return [`${place(event)} undoing`]
      case 'rollback_ended':
        return [`${place(event)} ${event.ok ? 'undone' : 'not undone'}`]
      case 'finished':
        return [event.outcome]
      default:
        return []
    }
  })
}

describe('order and strategies', () => {
  test('parallel: commands on all targets run at the same time', async () => {
    const meeting = path.join(instance.folder, randomUUID())
    const script = `mkdir -p ${meeting}; touch ${meeting}/$SLIPWAY_TARGET_NAME
      until [ "$(ls ${meeting} | wc -l)" -eq 3 ]; do sleep 0.05; done`
    const spec = specOf({
      targets: ['one', 'two', 'three'],
      actions: [{ script }],
      options: { target_mode: 'parallel' },
    })
    expect(await run(spec)).toMatchObject({ outcome: 'success' })
  })

  test('stop_on_first_failure: no further step starts, and the error names the action, the target and the reason', async () => {
    const spec = specOf({
      targets: ['one', 'two'],
      actions: [
        { name: 'a', script: 'echo oops >&2; exit 7' },
        { name: 'b', script: 'true' },
      ],
    })
    const end = await run(spec)
    expect(end).toMatchObject({
      outcome: 'failed',
      error_message: 'Action "a" failed on target "one": exit code 7',
    })
    expect(story(spec)).toEqual([
      ...['a@one try 0', 'a@one failed', 'b@one skipped', 'a@two skipped', 'b@two skipped'],
      'failed',
    ])
    expect(bridge.eventsOf(spec, 'step_ended')[0]).toMatchObject({
      exit_code: 7,
      error_message: 'exit code 7',
      stderr_tail: 'oops',
      stdout_tail: '',
    })
    expect(bridge.lines(spec).filter(({ stream }) => stream === 'system')).toMatchObject([
      { level: 'error', text: 'a on one failed: exit code 7', target: 0, action: 0 },
    ])
  })

  test('failed_target_only: the rollback scripts of the failed target run in reverse order', async () => {
    const log = path.join(instance.folder, `${randomUUID()}.log`)
    const note = (what: string) => `echo "${what} $SLIPWAY_TARGET_NAME" >>${log}`
    const spec = specOf({
      targets: ['one', 'two'],
      actions: [
        { name: 'a', script: 'true', rollback_script: note('undo-a') },
        { name: 'plain', script: 'true' },
        { name: 'b', script: '[ "$SLIPWAY_TARGET_NAME" = one ]', rollback_script: note('undo-b') },
      ],
      options: { rollback_strategy: 'failed_target_only' },
    })
    expect(await run(spec)).toMatchObject({ outcome: 'rolled_back' })
    expect(readFileSync(log, 'utf8').split('\n')).toEqual(['undo-b two', 'undo-a two', ''])
    expect(story(spec).slice(-6)).toEqual([
      ...['rolling back', 'b@two undoing', 'b@two undone', 'a@two undoing', 'a@two undone'],
      'rolled_back',
    ])
  })

  test('all_executed: every target is rolled back; a failed rollback script fails the deployment', async () => {
    const spec = specOf({
      targets: ['one', 'two'],
      actions: [
        { name: 'a', script: 'true', rollback_script: '[ "$SLIPWAY_TARGET_NAME" = two ]' },
        { name: 'b', script: '[ "$SLIPWAY_TARGET_NAME" = one ]' },
      ],
      options: { rollback_strategy: 'all_executed' },
    })
    expect(await run(spec)).toMatchObject({
      outcome: 'failed',
      error_message: 'Action "b" failed on target "two": exit code 1',
    })
    expect(story(spec)).toEqual(expect.arrayContaining(['a@two undone', 'a@one not undone']))
  })
})

describe('retries and time limits', () => {
  test('a failed attempt is repeated with the next number, and only the last attempt ends the step', async () => {
    const spec = specOf({
      actions: [{ name: 'a', script: 'echo "try $SLIPWAY_ATTEMPT"; [ "$SLIPWAY_ATTEMPT" = 2 ]', max_retries: 3 }],
    })
    expect(await run(spec)).toMatchObject({ outcome: 'success' })
    expect(story(spec)).toEqual(['a@one try 0', 'a@one try 1', 'a@one completed', 'success'])
    expect(bridge.output(spec)).toEqual(['try 1', 'try 2'])
    expect(bridge.lines(spec).filter(({ stream }) => stream === 'system')).toMatchObject([
      { level: 'warning', text: 'a on one failed: exit code 1; next attempt (2 of 4) in 1 s' },
    ])
  })

  test('a command that exceeds its timeout is killed with all its descendants and retried', async () => {
    const mark = randomUUID()
    const deep = `sh -c 'sh -c "sleep 600 & sleep 600" & sleep 600'`
    const spec = specOf({
      actions: [{ name: 'a', script: `${deep} & ${deep}`, timeout_seconds: 1, max_retries: 1, env: { MARK: mark } }],
    })
    const end = await run(spec)
    expect(end.error_message).toBe('Action "a" failed on target "one": killed after 1 s (timeout_seconds)')
    expect(story(spec)).toEqual(['a@one try 0', 'a@one try 1', 'a@one failed', 'failed'])
    expect(bridge.eventsOf(spec, 'step_ended')[0]).toMatchObject({ exit_code: null })
    expect(processesWith(mark)).toEqual([])
  })

  test('a deployment that exceeds its timeout kills running commands, skips pending steps and rolls back', async () => {
    const spec = specOf({
      remaining_seconds: 1,
      actions: [
        { name: 'a', script: 'true', rollback_script: 'echo undone' },
        { name: 'b', script: 'sleep 600', max_retries: 5 },
        { name: 'c', script: 'true' },
      ],
      options: { rollback_strategy: 'all_executed', deployment_timeout_seconds: 1 },
    })
    const end = await run(spec)
    expect(end.outcome).toBe('rolled_back')
    expect(end.reason).toBe('deployment_timeout')
    expect(end.error_message).toBe('The deployment took longer than 1 s (deployment_timeout_seconds)')
    expect(story(spec)).toEqual([
      ...['a@one try 0', 'a@one completed', 'b@one try 0', 'c@one skipped', 'b@one failed'],
      ...['rolling back', 'a@one undoing', 'a@one undone', 'rolled_back'],
    ])
  })

  test('a command that a signal ended has no exit code, and its error names the signal', async () => {
    const spec = specOf({ actions: [{ script: 'kill -SEGV $$' }] })
    await run(spec)
    expect(bridge.eventsOf(spec, 'step_ended')[0]).toMatchObject({
      exit_code: null,
      error_message: 'killed by SIGSEGV',
    })
  })
})

describe('input and output of a command', () => {
  test('a command gets its variables by precedence, as environment and as templates that stay data', async () => {
    const spec = specOf({
      targets: [{ name: 'one', variables: { c: 'target', d: 'target' } }],
      shared_variables: { b: 'shared', c: 'shared', d: 'shared' },
      override_variables: { d: `it's "$(id)" & more`, list: [1, 2] },
      actions: [
        {
          script:
            'echo "$SLIPWAY_VAR_A $SLIPWAY_VAR_B $SLIPWAY_VAR_C"; echo {{ d }}; echo "$SLIPWAY_VAR_LIST"; echo "$OWN"',
          variables: { a: 'action', b: 'action', c: 'action', d: 'action' },
          env: { OWN: 'env' },
        },
      ],
    })
    await run(spec)
    expect(bridge.output(spec)).toEqual(['action shared target', `it's "$(id)" & more`, '[1,2]', 'env'])
  })

  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: a shell's, not ours
  const HOSTILE = [
    '"; echo taken; "',
    "'; echo taken; '",
    '$(echo taken)`echo taken`${HOME}',
    "\\'; echo taken #",
    '{{ other }} && echo taken',
    '"""+__import__("os").system("echo taken")+"""',
    '"+require("child_process").execSync("echo taken")+"',
    '*?[a]~ | ; < > ( ) { } !',
  ]
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above

  test.each([
    ['sh', `printf '%s\\n' "$SLIPWAY_VAR_VALUE"`],
    ['bash', `printf '%s\\n' "$SLIPWAY_VAR_VALUE"`],
    ['python3', 'import os\nprint(os.environ["SLIPWAY_VAR_VALUE"])'],
    ['node', 'console.log(process.env.SLIPWAY_VAR_VALUE)'],
  ] as const)('hostile values reach %s unchanged by the environment', async (interpreter, script) => {
    const all = HOSTILE.join(' ')
    const values = interpreter === 'sh' ? [...HOSTILE, all] : [all]
    const actions = values.map((value) => ({ interpreter, script, variables: { value } }))
    const spec = specOf({ actions })
    expect(await run(spec)).toMatchObject({ outcome: 'success' })
    expect(bridge.output(spec)).toEqual(values)
  })

  test('a simulated timeout and a simulated lost connection fail with their reasons', async () => {
    const spec = specOf({
      targets: [
        { name: 'slow', connection: { type: 'simulated', duration_ms: 60_000 } },
        { name: 'dropped', connection: { type: 'simulated', drop_rate: 1 } },
      ],
      actions: [{ script: 'exit 99', timeout_seconds: 1 }],
      options: { target_mode: 'parallel', failure_strategy: 'continue_on_failure' },
    })
    expect(await run(spec)).toMatchObject({ outcome: 'failed' })
    const ends = bridge.eventsOf(spec, 'step_ended').map(({ target, error_message }) => [target, error_message])
    expect(ends.sort()).toEqual([
      [0, 'killed after 1 s (timeout_seconds)'],
      [1, 'connection was lost while the command ran'],
    ])
  })

  test('a command gets no variable of the environment of the instance', async () => {
    const spec = specOf({ actions: [{ script: 'env | cut -d= -f1 | sort; ls -A' }] })
    await run(spec)
    const own = [
      'ATTEMPT',
      'DEPLOYMENT_ID',
      'ENVIRONMENT',
      'SOURCE',
      'SOURCE_VERSION',
      'STEP',
      'TARGET_ID',
      'TARGET_NAME',
    ]
    // The shell sets PWD, OLDPWD, SHLVL and _.
    const names = bridge.output(spec).filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name))
    expect(names).toEqual(['HOME', 'LANG', 'PATH', ...own.map((name) => `SLIPWAY_${name}`)])
  })

  test('a log line says how many processes were killed that a command left in the background', async () => {
    const spec = specOf({ actions: [{ script: 'nohup sleep 600 >/dev/null & sleep 600 & echo up' }] })
    expect(await run(spec)).toMatchObject({ outcome: 'success' })
    expect(bridge.lines(spec)).toMatchObject([
      { text: 'up' },
      {
        stream: 'system',
        level: 'warning',
        text: expect.stringMatching(/^Killed 2 processes that the command left in the background\. .*systemd-run/),
        metadata: { killed_processes: 2 },
      },
    ])
  })

  test('a line that is not finished is shown, and stored once when it is', async () => {
    const gate = createGate(instance)
    const spec = specOf({ actions: [{ script: `echo first; printf '1%%\\r50%%'; ${gate.script}; echo ' done' >&1` }] })
    await bridge.startRun(spec)
    await eventually('it is shown', () => bridge.partialLines.length > 0)
    expect(bridge.partialLines[0]).toMatchObject({ target: 0, action: 0, stream: 'stdout', text: '50%', next_line: 1 })
    gate.open()
    await bridge.finished(spec)
    expect(bridge.output(spec)).toEqual(['first', '50% done'])
  })

  test('scripts and rollback scripts learn of the deployment, the target and the attempt', async () => {
    const show =
      'echo "$SLIPWAY_SOURCE $SLIPWAY_SOURCE_VERSION $SLIPWAY_ENVIRONMENT/$SLIPWAY_TARGET_ID/$SLIPWAY_ATTEMPT"'
    const spec = specOf({
      source: { name: 'shop', version: '1.2.3' },
      actions: [{ script: show, rollback_script: show }, { script: 'exit 1' }],
      targets: [{ name: 'one', environment: 'Production' }],
      options: { rollback_strategy: 'failed_target_only' },
    })
    await run(spec)
    const line = `shop 1.2.3 Production/${spec.targets[0]?.id}/1`
    expect(bridge.output(spec)).toEqual([line, line])
  })

  test('the members of a sensitive JSON value are masked in the output of each target', async () => {
    const script = `echo "$SLIPWAY_VAR_LOGIN" | python3 -c 'import json, sys
value = json.load(sys.stdin)
print(json.dumps(value, indent=2))
print(value["password"], value["user"], value["port"])
print("another one")'`
    const spec = specOf({
      sensitive: ['login'],
      actions: [{ script }],
      targets: [
        { name: 'one', variables: { login: { user: 'operator', password: 'pass "wörd"', port: 5432 } } },
        { name: 'two', variables: { login: { user: 'operator', password: 'another one', port: 5432 } } },
      ],
    })
    await bridge.startRun(spec)
    await bridge.finished(spec)
    const lines = ['***', '***', '***', '***', '***', '*** *** ***', '***']
    expect(bridge.output(spec)).toEqual([...lines, ...lines])
  })

  test('sensitive values are masked in lines, results and the journal, also on several lines and encoded', async () => {
    const secret = `hunter2-${randomUUID()}`
    const until = createGate(instance)
    const spec = specOf({
      sensitive: ['password', 'pem'],
      override_variables: { password: secret, pem: 'first-line-of-it\nsecond-line-of-it' },
      actions: [
        {
          script: `${until.script}; echo "pw=$SLIPWAY_VAR_PASSWORD."; echo "$SLIPWAY_VAR_PEM"; printf %s "$SLIPWAY_VAR_PASSWORD" | base64 -w0
            for part in hunter 2- "\${SLIPWAY_VAR_PASSWORD#hunter2-}"; do printf %s "$part"; sleep 0.05; done >&2; exit 1`,
        },
      ],
    })
    await bridge.startRun(spec)
    await eventually('the bridge knows of the start', () => bridge.eventsOf(spec, 'step_started').length === 1)
    bridge.takesNoEvents = true
    until.open()
    const journal = await eventually('the journal knows of the end', () => {
      const texts = readdirSync(path.join(instance.folder, 'journals')).map((name) => {
        return readFileSync(path.join(instance.folder, 'journals', name), 'utf8')
      })
      return texts.find((text) => text.includes(spec.deployment_id) && text.includes('"finished"'))
    })
    bridge.takesNoEvents = false
    await bridge.finished(spec)
    expect(bridge.output(spec)).toEqual(['pw=***.', '***', '***', '***'])
    expect(bridge.eventsOf(spec, 'step_ended')[0]).toMatchObject({
      stdout_tail: 'pw=***.\n***\n***\n***',
      stderr_tail: '***',
    })
    for (const text of [journal, JSON.stringify(bridge.events(spec)), instance.output]) {
      expect(text).not.toContain(secret)
      expect(text).not.toContain('second-line-of-it')
      expect(text).not.toContain(Buffer.from(secret).toString('base64').slice(0, 30))
    }
  })

  test('lines are numbered from first_line without gap or repetition', async () => {
    const spec = specOf({
      first_line: 40,
      actions: [
        { script: 'i=0; while [ $i -lt 6000 ]; do echo "line $i"; i=$((i+1)); done; printf "last without end"' },
      ],
    })
    await run(spec)
    const lines = bridge.lines(spec)
    expect(lines.map(({ line }) => line)).toEqual(Array.from({ length: 6_001 }, (_, index) => 40 + index))
    expect(lines[5_999]?.text).toBe('line 5999')
    expect(lines[6_000]?.text).toBe('last without end')
    const tail = bridge.eventsOf(spec, 'step_ended')[0]?.stdout_tail ?? ''
    expect(tail).toHaveLength(2_000)
    expect(tail.endsWith('line 5999\nlast without end')).toBe(true)
  })

  test('bytes that are not UTF-8 become U+FFFD, a carriage return begins a line again, long lines are split', async () => {
    const spec = specOf({
      actions: [
        {
          interpreter: 'python3',
          script: `import sys, time
out = sys.stdout.buffer
out.write(b'caf\\xc3'); out.flush(); time.sleep(0.05)
out.write(b'\\xa9 \\xff\\x00|\\r\\n0%\\r100%\\r\\n')
out.write(b'x' * 150000 + b'\\n\\n')`,
        },
      ],
    })
    await run(spec)
    expect(bridge.output(spec).map((text) => text.length)).toEqual([8, 4, 65_536, 65_536, 150_000 - 2 * 65_536, 0])
    expect(bridge.output(spec)[0]).toBe('café \uFFFD\uFFFD|')
    expect(bridge.lines(spec).map(({ metadata }) => metadata)).toEqual([
      ...[undefined, undefined],
      { split: true },
      { split: true },
      { split: true },
      undefined,
    ])
  })
})

describe('calls of the bridge', () => {
  const sleeper = (mark: string) => ({ actions: [{ script: 'echo up; sleep 600', env: { MARK: mark } }] })

  test('the same run sent twice starts once; a newer epoch replaces it', async () => {
    const mark = randomUUID()
    const spec = specOf({ ...sleeper(mark), epoch: 3 })
    await Promise.all([bridge.startRun(spec), bridge.startRun(spec)])
    await eventually('it runs', () => bridge.output(spec).length > 0)
    expect(bridge.eventsOf(spec, 'step_started')).toHaveLength(1)

    const newer = { ...spec, epoch: 4, actions: [{ ...spec.actions[0], script: 'echo newer' }] } as RunSpec
    expect(await run(newer)).toMatchObject({ outcome: 'success' })
    expect(processesWith(mark)).toEqual([])
    expect(bridge.eventsOf(spec, 'finished')).toEqual([])
    expect(bridge.eventsOf(newer, 'step_started')).toHaveLength(1)
  })

  test('a large specification is fetched by a separate call', async () => {
    bridge.holdsBackSpecs = true
    const spec = specOf({ actions: [{ script: 'echo fetched' }] })
    expect(await run(spec)).toMatchObject({ outcome: 'success' })
    bridge.holdsBackSpecs = false
    expect(bridge.output(spec)).toEqual(['fetched'])
  })

  test('a run that violates the contract is refused with the paths of the errors and without values', async () => {
    const spec = specOf({ actions: [{ script: 'true', env: { A: 7 } as never, timeout_seconds: 'hunter2' as never }] })
    bridge.holdsBackSpecs = true
    await bridge.startRun(spec)
    bridge.holdsBackSpecs = false
    const { reason } = await eventually('the refusal is told', () =>
      bridge.syncs.flatMap(({ refused }) => refused).find((run) => run.deployment_id === spec.deployment_id),
    )
    expect(reason).toContain('/actions/0/env/A')
    expect(reason).toContain('/actions/0/timeout_seconds')
    expect(reason).not.toContain('hunter2')
  })

  test('a stop kills the commands, deletes the journal, and is confirmed', async () => {
    const mark = randomUUID()
    const spec = specOf(sleeper(mark))
    await bridge.startRun(spec)
    await eventually('it runs', () => bridge.output(spec).length > 0)
    bridge.stop(spec)
    const report = await eventually('the end is confirmed', () => bridge.stopReport(spec))
    expect(report.unconfirmed).toEqual([])
    expect(processesWith(mark)).toEqual([])
    await eventually('its journal is gone', () => !journals().some((name) => name.startsWith(spec.deployment_id)))
  })

  test.each(['syncs', 'batches'])(
    'a run that the answers to %s disown is killed, and its journal is deleted',
    async (by) => {
      const mark = randomUUID()
      const script = by === 'batches' ? 'while :; do echo on; sleep 0.1; done' : 'echo up; sleep 600'
      const spec = specOf({ actions: [{ script, env: { MARK: mark } }] })
      await bridge.startRun(spec)
      await eventually('it runs', () => bridge.output(spec).length > 0)
      bridge.disowned.push({ deployment_id: spec.deployment_id, epoch: spec.epoch })
      await eventually('its command is gone', () => processesWith(mark).length === 0)
      await eventually('its journal is gone', () => !journals().some((name) => name.startsWith(spec.deployment_id)))
    },
  )

  test('the log warns of another version of Slipway and names both versions', async () => {
    bridge.version = '9.1.0'
    await eventually('the log tells', () => instance.output.includes('"slipway_version":"9.1.0"'))
    bridge.version = SLIPWAY_VERSION
    expect(instance.output).toContain(`this instance has version ${SLIPWAY_VERSION}, Slipway has 9.1.0`)
  })

  test('no journal is left after all runs have ended', async () => {
    await eventually('the folder is empty', () => journals().length === 0)
  })

  function journals(): string[] {
    return readdirSync(path.join(instance.folder, 'journals'))
  }
})
