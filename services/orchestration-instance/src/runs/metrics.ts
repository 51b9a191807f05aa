import { counter, histogram } from '@slipway/runtime'

export const commands = histogram(
  'slipway_command_duration_seconds',
  'Duration of single attempts of commands, by outcome: completed, failed (also by timeout) or killed (the run ended)',
  ['transport', 'outcome'],
)

export const retries = counter('slipway_command_retries_total', 'Failed attempts of commands that get another attempt')
