import { Kbd, Modal, Stack, Switch, Table } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useSession } from '../session/session.tsx'
import { visibleScreens } from './navigation.ts'
import { useSingleKeys } from './shortcuts.ts'

const GENERAL: [string[], string][] = [
  [['Ctrl', 'K'], 'go to a screen, deployment, target or source, or do something'],
  [['/'], 'search on this screen'],
  [['j'], 'next row'],
  [['k'], 'previous row'],
  [['Enter'], 'open the row'],
  [['F3'], 'next match in a log; with Shift, the previous one'],
  [['Esc'], 'close a dialog'],
  [['?'], 'this list'],
]

/** The list of shortcuts, and the switch for those of a single key. */
export function ShortcutHelp({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { can } = useSession()
  const [isOn, setOn] = useSingleKeys()
  // Mantine gives the focus back only if the dialog was closed at first.
  const [isOpen, setOpen] = useState(false)
  useEffect(() => setOpen(opened), [opened])
  const screens = visibleScreens(can).map(({ key, label }): [string[], string] => [['g', key], label])
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keyboard shortcuts">
      <Stack>
        <Switch
          label="Shortcuts without Ctrl"
          checked={isOn}
          onChange={(event) => setOn(event.currentTarget.checked)}
        />
        <Table verticalSpacing={3} withRowBorders={false}>
          <Table.Tbody>
            {[...GENERAL, ...screens].map(([keys, meaning]) => (
              <Table.Tr key={meaning}>
                <Table.Td w={110}>
                  {keys.map((key) => (
                    <Kbd key={key} mr={4}>
                      {key}
                    </Kbd>
                  ))}
                </Table.Td>
                <Table.Td>{meaning}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Stack>
    </Modal>
  )
}
