import type { Answer, Input, InputArguments, OperationId } from '@slipway/client'
import {
  type InvalidateOptions,
  keepPreviousData,
  type QueryClient,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { client } from './client.ts'
import { noteChange, useReadEvery } from './live.ts'
import { NAMES_KEY } from './names.ts'

// An input may be left out where every part of it is optional. The compiler cannot see that a given one always fits.
const call = <O extends OperationId>(operation: O, input: Input<O>): Promise<Answer<O>> =>
  client.call(operation, ...([input] as unknown[] as InputArguments<O>))

interface ReadOptions {
  /** Does not ask while false. */
  enabled?: boolean
  /** Asks again after so many milliseconds, while the tab is in view. */
  everyMs?: number
  /** Uses an answer for so many milliseconds without asking again. */
  freshMs?: number
  /** Keeps showing the last answer while the next one, to other input, is on its way. */
  keep?: boolean
  /** The answer may have many megabytes: it is kept while it is on screen, and never compared with the one before. */
  isLarge?: boolean
}

const LARGE = { structuralSharing: false, refetchOnWindowFocus: false, gcTime: 0 }

/** Reads by one operation of the API, and shares the answer with everything that reads the same. */
export function useRead<O extends OperationId>(operation: O, input: Input<O>, options: ReadOptions = {}) {
  useReadEvery(operation, options.everyMs, options.enabled ?? true)
  return useQuery({
    queryKey: [operation, input],
    queryFn: ({ signal }) => call(operation, { ...input, signal }),
    enabled: options.enabled ?? true,
    ...(options.freshMs === undefined ? {} : { staleTime: options.freshMs }),
    ...(options.keep ? { placeholderData: keepPreviousData } : {}),
    ...(options.isLarge ? LARGE : {}),
  })
}

/** What the menu counts may be different after any change. */
const COUNTS: readonly OperationId[] = ['getOverview', 'getOverviewCounts']

/** Changes something by one operation; what the reads named here have shown is then read again. */
export function useWrite<O extends OperationId>(operation: O, ...reads: OperationId[]) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (input: Input<O>) => call(operation, input),
    onSuccess: () => {
      noteChange()
      void readAgain(queries, COUNTS)
      void queries.invalidateQueries({ queryKey: NAMES_KEY })
      return readAgain(queries, reads)
    },
  })
}

/** By default a read that is on its way begins anew, because its answer may be older than what has changed. */
export async function readAgain(
  queries: QueryClient,
  operations: readonly OperationId[],
  options: InvalidateOptions = {},
): Promise<void> {
  await Promise.all(operations.map((operation) => queries.invalidateQueries({ queryKey: [operation] }, options)))
}
