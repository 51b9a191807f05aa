import type { FaultFactory } from './fault.ts'

export const diskFault: FaultFactory = ({ campaign: { disk } }) => ({
  inject: () => disk?.fill(),
  heal: () => disk?.clear(),
  note: () => (disk === null ? 'passed over: no right to mount a disk' : ''),
})
