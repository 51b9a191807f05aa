import { runService } from '@slipway/runtime'
import { config } from './config.ts'
import { startInstance } from './instance.ts'
import { measureRuns } from './runs/measure-runs.ts'

/** A supervisor kills the process after 20 s. Runs need 10 s of them to kill their commands and to send their last output. */
const END_COMMANDS_MS = 6_000
const READ_TOKEN_MS = 1_000

await runService({
  name: 'orchestration-instance',
  config,
  async start(context) {
    const { runs, syncLoop, capacity } = await startInstance(context, {
      endCommandsMs: END_COMMANDS_MS,
      readTokenMs: READ_TOKEN_MS,
    })
    measureRuns(runs, { capacity, heartbeatAgeMs: () => syncLoop.heartbeatAgeMs })
  },
})
