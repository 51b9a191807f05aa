import type { ServerResponse } from 'node:http'
import { unavailable } from '@slipway/domain'
import { type HttpCall, sendRefusal } from '@slipway/http'
import { COUNTED_HEADER, countedMark } from '@slipway/http/limits'
import { currentTraceparent } from '@slipway/runtime'
import httpProxy from 'http-proxy-3'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'

interface StreamProxy {
  handlers: HandlersOf<'streamDeploymentLogs' | 'streamResource'>
  /** Ends the open streams. Their clients reconnect to another replica. */
  close(): void
}

type StreamProxyOptions = Pick<Dependencies, 'logStreamUrl' | 'keys' | 'logger'>

/** Passes live streams through from the log-stream service. That service checks their tokens. */
export function createStreamProxy({ logStreamUrl, keys, logger }: StreamProxyOptions): StreamProxy {
  const proxy = httpProxy.createProxyServer({ target: logStreamUrl, changeOrigin: true, xfwd: true })
  const open = new Set<ServerResponse>()
  proxy.on('proxyReq', (outgoing) => {
    // The token in the query is enough: no other credential leaves the gateway.
    outgoing.removeHeader('authorization')
    outgoing.removeHeader('cookie')
  })
  proxy.on('proxyRes', (incoming, _request, response) => {
    // Without this, a client does not notice that its stream broke off behind the gateway, and does not reconnect.
    incoming.once('close', () => {
      if (!incoming.complete) response.destroy()
    })
  })

  function stream({ request, response, requestId }: HttpCall): void {
    open.add(response)
    response.once('close', () => open.delete(response))
    request.headers['x-request-id'] = requestId
    const traceparent = currentTraceparent()
    if (traceparent !== null) request.headers['traceparent'] = traceparent
    // Keeps the log-stream service from counting the request again. It has the same limit, for direct clients.
    request.headers[COUNTED_HEADER] = countedMark(keys, request.url ?? '')
    proxy.web(request, response, {}, (error) => {
      if (response.destroyed || response.writableEnded) return
      logger.warn('the log-stream service cannot be reached', { error })
      sendRefusal(response, unavailable('Live streams cannot be reached; try again'))
    })
  }

  return {
    handlers: { streamDeploymentLogs: { stream }, streamResource: { stream } },
    close() {
      for (const response of open) response.destroy()
      proxy.close()
    },
  }
}

/** Shorter than the timeout of a readiness check. */
const ANSWER_MS = 800

/** Whether a server answers HTTP at all, whatever it answers. */
export async function answersAtAll(url: string): Promise<boolean> {
  const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS) })
  await response.body?.cancel()
  return true
}
