import { measure } from '@slipway/runtime'
import type { Runs } from './runs.ts'

export function measureRuns(runs: Runs, about: { capacity: number; heartbeatAgeMs(): number | null }): void {
  measure(
    'runs',
    {
      slipway_runs: { help: 'Runs on this instance. An ended run counts until the executor-bridge has all its events' },
      slipway_run_capacity: { help: 'Capacity of this instance: runs at a time' },
      slipway_commands_active: { help: 'Commands that run or wait for their next attempt' },
      slipway_run_events_unacknowledged: { help: 'Events that the executor-bridge has not committed yet' },
      slipway_bridge_silence_seconds: { help: 'Time since the last successful heartbeat' },
    },
    () => {
      const held = runs.status()
      const sum = (figure: (run: (typeof held)[number]) => number) => held.reduce((all, run) => all + figure(run), 0)
      return {
        slipway_runs: held.length,
        slipway_run_capacity: about.capacity,
        slipway_commands_active: sum((run) => ('active_commands' in run ? run.active_commands : 0)),
        slipway_run_events_unacknowledged: sum((run) =>
          'next_event' in run ? run.next_event - run.acknowledged_event : 0,
        ),
        slipway_bridge_silence_seconds: (about.heartbeatAgeMs() ?? process.uptime() * 1_000) / 1_000,
      }
    },
  )
}
