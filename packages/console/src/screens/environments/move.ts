interface Placed {
  id: string
  position: number | null
}

/**
 * The new positions that bring an environment before or after its neighbour in the list. Null: one of both has none, or
 * there is no neighbour on this page.
 */
export function movedPositions(
  list: readonly Placed[],
  id: string,
  step: -1 | 1,
): { id: string; position: number }[] | null {
  const at = list.findIndex((one) => one.id === id)
  const [moved, other] = [list[at], list[at + step]]
  if (moved?.position == null || other?.position == null) return null
  if (moved.position !== other.position) {
    return [
      { id: moved.id, position: other.position },
      { id: other.id, position: moved.position },
    ]
  }
  // Of equal positions, the one that is to come later gets the next number.
  const later = step === -1 ? other : moved
  return [{ id: later.id, position: moved.position + 1 }]
}
