import type { ServiceName } from '@slipway/testing'
import type { FaultFactory } from './fault.ts'

export const processFault: FaultFactory = ({ campaign }, { kind, target }) => {
  const name = target as ServiceName
  let code: number | string = ''
  const signalIfAlive = (signal: NodeJS.Signals) => {
    if (campaign.suite.exitOf(name) === null && !campaign.held.has(name)) process.kill(campaign.suite.pid(name), signal)
  }
  switch (kind) {
    case 'kill -9':
    case 'SIGTERM':
      return {
        async inject() {
          code = await campaign.end(name, kind === 'SIGTERM' ? 'SIGTERM' : 'SIGKILL')
        },
        heal: () => campaign.launch(name),
        note: () => (kind === 'SIGTERM' ? `ended with ${code}` : ''),
      }
    case 'SIGSTOP':
      return { inject: () => signalIfAlive('SIGSTOP'), heal: () => signalIfAlive('SIGCONT') }
    default:
      throw new Error(`no such fault of processes: ${kind}`)
  }
}
