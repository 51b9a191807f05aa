// Tabs share the cookie of the session, so a login or logout in one of them counts for all.
const channel = new BroadcastChannel('slipway-session')

export const tellOtherTabs = () => channel.postMessage('changed')

/** Calls the listener after a login or logout in another tab. Returns how to stop that. */
export function onOtherTab(listener: () => void): () => void {
  channel.addEventListener('message', listener)
  return () => channel.removeEventListener('message', listener)
}
