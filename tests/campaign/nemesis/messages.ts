import { repeatMessages, sendGarbage } from '@slipway/testing'
import { type FaultFactory, moment } from './fault.ts'

export const messageFault: FaultFactory = ({ campaign }, { kind, durationMs }) => {
  const { namespace } = campaign.suite
  let note = ''
  switch (kind) {
    case 'repeated and reordered':
      return {
        async inject() {
          const copies = await repeatMessages(namespace, durationMs)
          note = `${copies} copies`
        },
        heal: () => {},
        note: () => note,
      }
    case 'garbage':
      return moment(() => sendGarbage(namespace, (content) => campaign.garbage.add(content.toString('base64'))))
    default:
      throw new Error(`no such fault of messages: ${kind}`)
  }
}
