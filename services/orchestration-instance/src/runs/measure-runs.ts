import { measure } from '@slipway/runtime'
import type { Runs } from './runs.ts'

/** Measures the runs of this instance, and the time since its last heartbeat. */
export function measureRuns(runs: Runs, about: { capacity: number; heardAgoMs(): number | null }): void {
  measure(
    'runs',
    {
      slipway_runs: { help: 'Runs that are held here, ended ones until the bridge has all of them' },
      slipway_run_capacity: { help: 'Runs that may be held here at once' },
      slipway_commands_active: { help: 'Commands that run or wait for their next attempt' },
      slipway_run_events_unacknowledged: { help: 'Events that the executor-bridge has not committed yet' },
      slipway_bridge_silence_seconds: { help: 'Time since the executor-bridge last heard of this instance' },
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
        slipway_bridge_silence_seconds: (about.heardAgoMs() ?? process.uptime() * 1_000) / 1_000,
      }
    },
  )
}
