import type { FaultFactory } from './fault.ts'

export const diskFault: FaultFactory = ({ campaign: { disk } }) => ({
  inject() {
    if (disk === null) throw new Error('passed over: no right to mount a disk')
    disk.fill()
  },
  heal: () => disk?.clear(),
})
