export interface InstanceSlots {
  id: string
  name: string
  status: string
  capacity: number
  active: number
}

/** How many slots are in use and free. Instances that are offline or draining have no free slots. */
export function slotsOf(instances: readonly InstanceSlots[], shown: number) {
  const online = instances.filter(({ status }) => status === 'online')
  return {
    used: instances.reduce((sum, { active }) => sum + active, 0),
    free: online.reduce((sum, { capacity, active }) => sum + Math.max(0, capacity - active), 0),
    online: online.length,
    total: instances.length,
    instances: instances.slice(0, shown),
  }
}
