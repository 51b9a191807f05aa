/**
 * Firefox draws no element that is higher than 17.9 million pixels, Chromium none above 33.5 million pixels of the screen,
 * of which a page has two or three in one of its own.
 */
const MAX_HEIGHT = 10_000_000
/** At both ends of a list that is higher, so much is scrolled pixel by pixel. */
const EXACT = 100_000

export const elementHeight = (total: number) => Math.min(total, MAX_HEIGHT)

/**
 * Which part of a list is in view where its element is scrolled to. An element as high as its list shows what it is
 * scrolled to. A list that is higher than elements can be is compressed between its ends.
 */
export class ScrollScale {
  /** The last position: so much of the list is above the view at its end. */
  readonly end: number
  /** The last `scrollTop` of the element. */
  readonly scrollEnd: number

  constructor(total: number, viewport: number) {
    this.end = Math.max(0, total - viewport)
    this.scrollEnd = Math.max(0, elementHeight(total) - viewport)
  }

  positionAt(scrollTop: number): number {
    return convert(scrollTop, this.scrollEnd, this.end)
  }

  scrollTopAt(position: number): number {
    return convert(position, this.end, this.scrollEnd)
  }
}

function convert(value: number, from: number, to: number): number {
  if (from === to || value <= EXACT) return Math.min(Math.max(0, value), to)
  if (value >= from - EXACT) return Math.max(0, to - Math.max(0, from - value))
  return EXACT + ((value - EXACT) * (to - 2 * EXACT)) / (from - 2 * EXACT)
}
