import { Button, Menu } from '@mantine/core'
import type { LogFilter } from '@slipway/client'
import { useState } from 'react'
import { client } from '../../api/client.ts'

type Query = LogFilter & { raw?: 'true' }

/** Saves the log as a file. The browser keeps what arrives outside of the memory of the page. */
async function saveLog(id: string, query: Query): Promise<void> {
  const answer = await client.openLogText(id, query)
  const address = URL.createObjectURL(await answer.blob())
  const link = document.createElement('a')
  link.href = address
  link.download = `deployment-${id}.log`
  link.click()
  URL.revokeObjectURL(address)
}

function useSaving(id: string, onError: (error: Error | null) => void) {
  const [busy, setBusy] = useState(false)
  const save = (query: Query) => {
    setBusy(true)
    onError(null)
    saveLog(id, query)
      .catch(onError)
      .finally(() => setBusy(false))
  }
  return { busy, save }
}

interface Props {
  id: string
  onError: (error: Error | null) => void
}

/** Downloads the whole log. */
export function DownloadLog({ id, onError }: Props) {
  const { busy, save } = useSaving(id, onError)
  return (
    <Button variant="default" size="xs" loading={busy} onClick={() => save({})}>
      Download log
    </Button>
  )
}

/** Downloads the lines that match, or the output with its escape sequences. */
export function DownloadMenu({ id, filter, onError }: Props & { filter: LogFilter | null }) {
  const { busy, save } = useSaving(id, onError)
  const raw = { raw: 'true' } as const
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" size="xs" loading={busy}>
          Download…
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {filter !== null && (
          <>
            <Menu.Label>Only lines that match</Menu.Label>
            <Menu.Item onClick={() => save(filter)}>Time, target and text</Menu.Item>
            <Menu.Item onClick={() => save({ ...filter, ...raw })}>Raw output, with colours</Menu.Item>
          </>
        )}
        <Menu.Label>Whole log</Menu.Label>
        <Menu.Item onClick={() => save({})}>Time, target and text</Menu.Item>
        <Menu.Item onClick={() => save(raw)}>Raw output, with colours</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
