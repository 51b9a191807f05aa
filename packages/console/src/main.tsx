import '@mantine/core/styles.css'
import './app/global.css'
import { MantineProvider } from '@mantine/core'
import { ApiError } from '@slipway/client'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { router } from './app/router.tsx'
import { SessionGate } from './app/session-gate.tsx'
import { readableColours, theme } from './app/theme.ts'

const nonce = document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.content ?? ''
// Dialogs lock the scrolling of the page by a style element.
setNonce(nonce)
/** Browsers call themselves offline on machines without a route to the internet, where Slipway may well be reachable. */
const NETWORK_MODE = 'always'
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // The client repeats by itself what may be repeated.
      retry: (count, error) => !(error instanceof ApiError) && count < 2,
      staleTime: 2_000,
      networkMode: NETWORK_MODE,
    },
    mutations: { networkMode: NETWORK_MODE },
  },
})
const place = document.getElementById('root')
if (place === null) throw new Error('the page has no element with the id root')

createRoot(place).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={readableColours}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queries}>
        <SessionGate>
          <RouterProvider router={router} />
        </SessionGate>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
