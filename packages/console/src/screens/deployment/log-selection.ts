import type { ClipboardEvent } from 'react'

/** The number of the row to which a place in the page belongs. */
function rowOf(place: Node | null | undefined): number | null {
  const element = place instanceof Element ? place : place?.parentElement
  const row = element?.closest<HTMLElement>('.log-line')?.dataset['row']
  return row === undefined ? null : Number(row)
}

/** Copies the selected lines as text. The browser would break a line at each column. A part of one line is copied as it is selected. */
export function copySelection(event: ClipboardEvent, textOfRows: (first: number, last: number) => string): void {
  const selection = window.getSelection()
  const [anchor, focus] = [rowOf(selection?.anchorNode), rowOf(selection?.focusNode)]
  if (anchor === null || focus === null || focus === anchor) return
  event.clipboardData.setData('text/plain', textOfRows(Math.min(anchor, focus), Math.max(anchor, focus)))
  event.preventDefault()
}
