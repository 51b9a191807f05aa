import { counter, histogram } from '@slipway/runtime'

export const commands = histogram(
  'slipway_command_duration_seconds',
  'How long single attempts of commands took: completed, failed (also over their time) or killed (their run ended)',
  ['transport', 'outcome'],
)

export const retries = counter('slipway_command_retries_total', 'Commands that failed and are tried again')
