import type { AnyRouter } from '@tanstack/react-router'

let isAwaited = false
let leftFrom: Element | null = null

/**
 * After a navigation the focus goes to the title of the new screen, so that a screen reader begins there. A change of the
 * search in the address is no navigation. Returns how to stop that.
 */
export function followNavigation(router: AnyRouter): () => void {
  const stops = [
    router.subscribe('onBeforeNavigate', () => {
      leftFrom = document.activeElement
    }),
    router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
      if (fromLocation === undefined || !pathChanged) return
      isAwaited = true
      focusTitle()
    }),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

/** Focuses the title of the screen if that is still to be done. A screen calls this when its title appears. */
export function focusTitle(): void {
  const title = document.querySelector<HTMLElement>('main h1')
  if (!isAwaited || title === null) return
  isAwaited = false
  if (isFree(document.activeElement)) title.focus({ preventScroll: true })
}

/** Whether the focus is where the navigation left it, and not in a form or dialog of the new screen. */
const isFree = (focused: Element | null): boolean =>
  focused === null ||
  focused === document.body ||
  focused === leftFrom ||
  focused.closest('main, [role=dialog]') === null
