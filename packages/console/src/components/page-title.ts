let title = 'Slipway'
let mark: Mark | null = null

/** How a deployment ended that nobody looked at. */
export type Mark = '✓' | '✗'

/** The title of the window, and of its entry in the history. */
export function setPageTitle(text: string): void {
  title = `${text} · Slipway`
  show()
}

/** Puts a mark before the title and on the icon, or takes it away. */
export function setMark(wanted: Mark | null): void {
  if (wanted === mark) return
  mark = wanted
  show()
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')
  if (icon !== null) icon.href = wanted === null ? '/icon.svg' : iconWith(wanted)
}

const show = () => {
  document.title = mark === null ? title : `${mark} ${title}`
}

const SHAPES: Record<Mark, { colour: string; path: string }> = {
  '✓': { colour: '#1e7333', path: 'M7 17l6 6 12-14' },
  '✗': { colour: '#c92a2a', path: 'M9 9l14 14M23 9L9 23' },
}

function iconWith(shown: Mark): string {
  const { colour, path } = SHAPES[shown]
  const shapes = `<rect width="32" height="32" rx="7" fill="${colour}"/><path d="${path}" fill="none" stroke="#fff" stroke-width="5"/>`
  return `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${shapes}</svg>`)}`
}
