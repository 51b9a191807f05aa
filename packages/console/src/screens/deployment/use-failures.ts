import { useRead } from '../../api/queries.ts'

/** The commands that failed, in the order in which they started. */
export function useFailures(id: string, enabled = true) {
  return useRead('listCommandResults', { params: { id }, query: { status: 'failed' } }, { enabled })
}
