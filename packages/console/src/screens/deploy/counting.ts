import { useDebouncedValue } from '@mantine/hooks'
import type { Answer, Schema } from '@slipway/client'
import { useRead } from '../../api/queries.ts'

export interface Counting {
  /** Whether the form names a source and targets. */
  isReady: boolean
  isBusy: boolean
  preview: Answer<'previewDeployment'> | undefined
  error: Error | null
}

const DELAY_MS = 500

/** Previews the selection while it changes, for the number of targets and the resolved version. */
export function useCounting(request: Schema<'CreateDeployment'> | null): Counting {
  const text = request === null ? null : JSON.stringify(request)
  const [settled] = useDebouncedValue(text, DELAY_MS)
  const body = JSON.parse(settled ?? '{}') as Schema<'CreateDeployment'>
  const preview = useRead('previewDeployment', { body }, { enabled: settled !== null, keep: true })
  const isReady = text !== null && settled !== null
  return {
    isReady: text !== null,
    isBusy: text !== settled || preview.isFetching,
    preview: isReady ? preview.data : undefined,
    error: isReady && text === settled ? preview.error : null,
  }
}
