import { Button, Checkbox, Popover, Stack } from '@mantine/core'
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
export function DownloadOptions({ id, filter, onError }: Props & { filter: LogFilter | null }) {
  const { busy, save } = useSaving(id, onError)
  const [isFiltered, setFiltered] = useState(true)
  const [isRaw, setRaw] = useState(false)
  return (
    <Popover position="bottom-end" trapFocus returnFocus>
      <Popover.Target>
        <Button variant="default" size="xs">
          Download…
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Download">
        <Stack gap="xs">
          <Checkbox
            label="Only lines that match"
            checked={filter !== null && isFiltered}
            disabled={filter === null}
            onChange={(event) => setFiltered(event.currentTarget.checked)}
          />
          <Checkbox
            label="Raw output"
            description="With colours, without time and target"
            checked={isRaw}
            onChange={(event) => setRaw(event.currentTarget.checked)}
          />
          <Button
            size="xs"
            loading={busy}
            onClick={() => save({ ...(isFiltered ? filter : null), ...(isRaw ? { raw: 'true' } : {}) })}
          >
            Download
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
