import { useLayoutEffect, useSyncExternalStore } from 'react'
import { elementHeight, ScrollScale } from './scroll-scale.ts'

interface Options {
  rowHeight: number
  /** Height of what stays above the rows, in the same frame. */
  head?: number
  /** Whether a view at the end stays there while rows are added. */
  canFollow?: boolean
  /** Whether it begins at the end. */
  follows?: boolean
}

/** The rows to draw, from `first` to before `end`, and how far down in their element. */
interface Drawn {
  first: number
  end: number
  offset: number
  follows: boolean
}

/** Rows that are drawn beyond both edges of the view. */
const OVERSCAN = 12
/** How long the frame must stand still before it counts as at rest. */
const REST_MS = 200
/** A frame that has moved further, in heights of its view, was not moved by wheel, key or finger. */
const FAR = 2

/**
 * What of a list of rows of one height is in view. Its cost does not depend on the number of rows (decision 61).
 */
export class RowWindow {
  readonly #rowHeight: number
  readonly #head: number
  readonly #canFollow: boolean
  readonly #listeners = new Set<() => void>()
  #frame: HTMLElement | null = null
  #count = 0
  #viewport = 0
  #scale = new ScrollScale(0, 0)
  /** Pixels of the list above the view while the frame is scrolled to `#scrollTop`. */
  #position = 0
  #scrollTop = 0
  #resting: ReturnType<typeof setTimeout> | undefined
  #drawn: Drawn

  constructor({ rowHeight, head = 0, canFollow = false, follows = false }: Options) {
    this.#rowHeight = rowHeight
    this.#head = head
    this.#canFollow = canFollow
    this.#drawn = { first: 0, end: 0, offset: 0, follows }
  }

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly drawn = () => this.#drawn

  /** For `ref` of the frame that scrolls. */
  readonly attach = (frame: HTMLElement | null) => {
    if (frame === null) return
    this.#frame = frame
    this.#resize()
    const sizes = new ResizeObserver(() => this.#resize())
    sizes.observe(frame)
    frame.addEventListener('scroll', this.#scrolled, { passive: true })
    return () => {
      sizes.disconnect()
      frame.removeEventListener('scroll', this.#scrolled)
      clearTimeout(this.#resting)
      this.#resting = undefined
      this.#frame = null
    }
  }

  /** Of the element that holds so many rows. */
  heightOf(count: number): number {
    return elementHeight(count * this.#rowHeight)
  }

  /** Call it when the element of the rows has the height for so many. */
  setCount(count: number): void {
    this.#count = count
    this.#rescale()
  }

  /** Brings a row that is not in view into its middle, or no further than needed. Stays there from now on. */
  show(row: number, where: 'middle' | 'nearest'): void {
    const top = row * this.#rowHeight
    const lowest = top + this.#rowHeight - this.#viewport
    const isAbove = top < this.#position
    if (isAbove || lowest > this.#position) {
      this.#moveTo(where === 'middle' ? (top + lowest) / 2 : isAbove ? top : lowest)
    }
    this.#draw(false)
  }

  /** Stays at the end from now on, or where it is. */
  follow(follows: boolean): void {
    if (follows) this.#moveTo(this.#scale.end)
    this.#draw(follows)
  }

  get rowsInView(): number {
    return Math.floor(this.#viewport / this.#rowHeight)
  }

  get isAtEnd(): boolean {
    return this.#position > this.#scale.end - this.#rowHeight
  }

  readonly #scrolled = () => {
    const scrollTop = this.#frame?.scrollTop ?? 0
    const moved = scrollTop - this.#scrollTop
    // Less than a pixel: the frame is where it was put.
    if (Math.abs(moved) < 1) return
    const isFar = Math.abs(moved) > FAR * this.#viewport
    this.#scrollTop = scrollTop
    this.#position = this.#clamp(isFar ? this.#scale.positionAt(scrollTop) : this.#position + moved)
    if (scrollTop <= 0) this.#position = 0
    if (scrollTop >= this.#scale.scrollEnd - 1) this.#position = this.#scale.end
    clearTimeout(this.#resting)
    this.#resting = setTimeout(this.#rest, REST_MS)
    this.#draw(this.#canFollow && this.isAtEnd)
  }

  /** Small moves are exact also where the list is compressed. Afterwards the scroll bar is put where it belongs. */
  readonly #rest = () => {
    this.#resting = undefined
    this.#moveTo(this.#position)
  }

  #resize(): void {
    this.#viewport = Math.max(0, (this.#frame?.clientHeight ?? 0) - this.#head)
    this.#rescale()
  }

  #rescale(): void {
    this.#scale = new ScrollScale(this.#count * this.#rowHeight, this.#viewport)
    // The event of a move that was made just now may still be on its way.
    this.#scrolled()
    const { follows } = this.#drawn
    if (follows) this.#moveTo(this.#scale.end)
    else if (this.#resting === undefined || this.#position > this.#scale.end) this.#moveTo(this.#position)
    this.#draw(follows)
  }

  #moveTo(position: number): void {
    this.#position = this.#clamp(position)
    const scrollTop = this.#scale.scrollTopAt(this.#position)
    if (this.#frame !== null && Math.abs(scrollTop - this.#frame.scrollTop) >= 1) this.#frame.scrollTop = scrollTop
    // Browsers round it.
    this.#scrollTop = this.#frame?.scrollTop ?? 0
    this.#draw(this.#drawn.follows && this.isAtEnd)
  }

  #clamp(position: number): number {
    return Math.min(Math.max(0, position), this.#scale.end)
  }

  #draw(follows: boolean): void {
    const first = Math.max(0, Math.floor(this.#position / this.#rowHeight) - OVERSCAN)
    const last = Math.ceil((this.#position + this.#viewport) / this.#rowHeight) + OVERSCAN
    const end = Math.min(this.#count, last)
    const offset = first * this.#rowHeight + this.#scrollTop - this.#position
    const before = this.#drawn
    if (before.first === first && before.end === end && before.offset === offset && before.follows === follows) return
    this.#drawn = { first, end, offset, follows }
    for (const listener of this.#listeners) listener()
  }
}

/** Returns which of `count` rows to draw, and the height of the element that holds them. */
export function useDrawnRows(rows: RowWindow, count: number) {
  const drawn = useSyncExternalStore(rows.subscribe, rows.drawn)
  useLayoutEffect(() => rows.setCount(count), [rows, count])
  return { ...drawn, height: rows.heightOf(count) }
}

/** Whether the view stays at the end. */
export const useFollows = (rows: RowWindow) => useSyncExternalStore(rows.subscribe, () => rows.drawn().follows)
