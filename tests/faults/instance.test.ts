import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { completeLines, startSshd } from '@slipway/testing'
import { FakeBridge } from '../../services/orchestration-instance/test/support/fake-bridge.ts'
import { InstanceProcess } from '../../services/orchestration-instance/test/support/instance-process.ts'
import { processesWith } from '../../services/orchestration-instance/test/support/processes.ts'
import { specOf } from '../../services/orchestration-instance/test/support/specs.ts'
import { eventually } from '../../services/orchestration-instance/test/support/wait.ts'

// One instance as a process that is frozen, with the part of the bridge that it calls. The campaign has no SSH targets.

let bridge: FakeBridge
let instance: InstanceProcess

beforeEach(async () => {
  bridge = new FakeBridge()
  await bridge.listen()
  instance = new InstanceProcess(bridge)
})

afterEach(async () => {
  await instance.remove()
  await bridge.close()
  expect(bridge.problems).toEqual([])
})

/** A file in which every script notes its starts, independently of the journal. */
function witness() {
  const file = path.join(instance.folder, `${randomUUID()}.witness`)
  return {
    note: `echo "$SLIPWAY_STEP@$SLIPWAY_TARGET_NAME $SLIPWAY_ATTEMPT" >>${file}`,
    starts: () => completeLines(file),
  }
}

test('a frozen instance keeps no local or ssh command alive beyond its lease, and continues by its journal later', async () => {
  bridge.lostAfterSeconds = 10
  const sshd = await startSshd()
  try {
    await instance.start()
    const mark = randomUUID()
    const { note, starts } = witness()
    const { port, username, privateKey: private_key } = sshd
    const spec = specOf({
      targets: ['here', { name: 'there', connection: { type: 'ssh', host: '127.0.0.1', port, username, private_key } }],
      actions: [
        {
          script: `${note}; [ "$SLIPWAY_ATTEMPT" -gt 1 ] || { sleep 600 & sleep 600; }`,
          max_retries: 1,
          env: { MARK: mark },
        },
      ],
      options: { target_mode: 'parallel' },
    })
    await bridge.startRun(spec)
    await eventually('both commands run', () => starts().length === 2)
    instance.freeze(true)
    await eventually('no command lives', () => processesWith(mark).length === 0)
    expect(starts()).toHaveLength(2)
    instance.freeze(false)
    expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
    expect([...starts()].sort().map((line) => line.split('@')[1])).toEqual(['here 1', 'here 2', 'there 1', 'there 2'])
  } finally {
    instance.freeze(false)
    await sshd.stop()
  }
})
