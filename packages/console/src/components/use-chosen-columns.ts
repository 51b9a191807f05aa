import { useLocalStorage } from '@mantine/hooks'
import type { ColumnChoice } from './column-menu.tsx'

interface Choosable {
  head: string
  isExtra?: boolean
}

/** Which columns of a table are shown. The browser remembers what the user has chosen, under the name of the table. */
export function useChosenColumns(name: string | undefined, columns: readonly Choosable[]): ColumnChoice {
  const [chosen, setChosen] = useLocalStorage<Record<string, boolean>>({
    key: `slipway-columns-${name ?? ''}`,
    defaultValue: {},
    getInitialValueInEffect: false,
  })
  const usual = new Map(columns.map(({ head, isExtra = false }) => [head, !isExtra]))
  const isShown = (head: string) => {
    // The first column says what a row is.
    if (name === undefined || head === columns[0]?.head) return true
    return chosen[head] ?? usual.get(head) ?? true
  }
  return { isShown, toggle: (head) => setChosen({ ...chosen, [head]: !isShown(head) }) }
}
