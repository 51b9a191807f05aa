import { Button, Group, Text } from '@mantine/core'
import { type ComponentType, useCallback, useEffect, useState } from 'react'
import { onServerState, serverState } from '../api/connection.ts'
import { Loading } from '../components/loaded.tsx'
import { Page } from '../components/page.tsx'

const sources: { load(): Promise<unknown> }[] = []
/** Pauses between attempts that nobody sees. */
const PAUSES_MS = [300, 1_200]
/** So long the screen before stays in place. */
const STAYS_MS = 1_500
/** A server that hangs does not refuse a connection. */
const HANGS_MS = 10_000

/** A component whose code is loaded when it is first shown, or before that when the browser has nothing else to do. */
export class Lazy<P> {
  loaded: ComponentType<P> | null = null
  readonly #load: () => Promise<ComponentType<P>>

  constructor(load: () => Promise<ComponentType<P>>) {
    this.#load = load
    sources.push(this)
  }

  async load(): Promise<ComponentType<P>> {
    this.loaded ??= await this.#load()
    return this.loaded
  }
}

/** Loads the code of all screens and dialogs, one after the other, while the browser is idle. */
export async function loadAll(): Promise<void> {
  for (const source of sources) {
    await idleMoment()
    await source.load().catch(() => undefined)
  }
}

/** Safari has no requestIdleCallback. */
const idleMoment = () =>
  new Promise<void>((resolve) => {
    if ('requestIdleCallback' in window) requestIdleCallback(() => resolve())
    else setTimeout(resolve, 200)
  })

/** A component without props as a screen. */
export function lazyScreen<N extends string>(load: () => Promise<Record<N, ComponentType>>, name: N) {
  const source = new Lazy<object>(async () => (await load())[name])
  // The router waits for this, so that the screen before stays until this one is there. It must not fail.
  const preload = async () => {
    await Promise.race([source.load().catch(() => undefined), sleep(STAYS_MS)])
  }
  return Object.assign(() => <LazyScreen source={source} />, { preload })
}

interface Failure {
  /** Whether the server answers at all. */
  isAnswered: boolean
  /** Whether the server has another release of the console, with files of other names. */
  isReplaced: boolean
}

function LazyScreen({ source }: { source: Lazy<object> }) {
  const { Component, failure, tryAgain } = useLazy(source)
  if (Component !== null) return <Component />
  return failure === null ? <Loading /> : <NotLoaded failure={failure} onTryAgain={tryAgain} />
}

/** Loads the component: again when that fails, and whenever the server is back. */
export function useLazy<P>(source: Lazy<P>) {
  const [Component, setComponent] = useState(() => source.loaded)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [attempt, setAttempt] = useState(0)
  const tryAgain = useCallback(() => {
    setFailure(null)
    setAttempt((count) => count + 1)
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt loads again
  useEffect(() => {
    if (Component !== null) return
    let isLeft = false
    loadPatiently(source, () => isLeft).then(
      (component) => !isLeft && setComponent(() => component),
      async () => {
        const found = await findFailure()
        if (!isLeft) setFailure(found)
      },
    )
    return () => {
      isLeft = true
    }
  }, [source, Component, attempt])
  useEffect(() => {
    if (Component === null) return onServerState(() => !serverState().isSilent && tryAgain())
  }, [Component, tryAgain])
  return { Component, failure, tryAgain }
}

function NotLoaded({ failure: { isAnswered, isReplaced }, onTryAgain }: { failure: Failure; onTryAgain: () => void }) {
  return (
    <Page title="This screen did not load">
      <Text size="sm">
        {isReplaced
          ? 'The server has a newer release of the console. Reload the page to go on with it.'
          : 'Its code did not arrive from the server.'}
      </Text>
      <Group gap="xs">
        <Button variant={isReplaced ? 'default' : 'filled'} onClick={onTryAgain}>
          Try again
        </Button>
        {isAnswered && (
          <Button variant={isReplaced ? 'filled' : 'default'} onClick={() => window.location.reload()}>
            Reload
          </Button>
        )}
      </Group>
    </Page>
  )
}

async function loadPatiently<P>(source: Lazy<P>, isLeft: () => boolean): Promise<ComponentType<P>> {
  for (const pause of PAUSES_MS) {
    try {
      return await loadInTime(source)
    } catch {
      await sleep(pause)
      if (isLeft()) break
    }
  }
  return await loadInTime(source)
}

async function loadInTime<P>(source: Lazy<P>): Promise<ComponentType<P>> {
  const component = await Promise.race([source.load(), sleep(HANGS_MS)])
  if (component === undefined) throw new Error('The code of the screen did not arrive in time')
  return component
}

async function findFailure(): Promise<Failure> {
  const options = {
    cache: 'no-store',
    headers: { accept: 'text/html' },
    signal: AbortSignal.timeout(HANGS_MS),
  } as const
  const page = await fetch('/', options)
    .then((answer) => (answer.ok ? answer.text() : null))
    .catch(() => null)
  const entry = document.querySelector('script[type=module][src]')?.getAttribute('src') ?? ''
  return { isAnswered: page !== null, isReplaced: page?.includes(entry) === false }
}

const sleep = (ms: number) => new Promise<undefined>((resolve) => setTimeout(resolve, ms))
