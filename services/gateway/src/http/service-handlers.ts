import { openApiDocument } from '@slipway/contracts'
import { SLIPWAY_VERSION, uuidv7 } from '@slipway/runtime'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'

export function serviceHandlers({
  readiness,
}: Dependencies): HandlersOf<'getHealth' | 'getReadiness' | 'getServerInfo' | 'getOpenApi'> {
  let openApi: string | undefined
  const instanceId = uuidv7()
  return {
    getHealth: { handle: async () => ({ status: 200, body: { status: 'ok' } }) },
    getReadiness: {
      async handle() {
        const { ready, dependencies } = await readiness()
        return { status: ready ? 200 : 503, body: { status: ready ? 'ready' : 'unavailable', dependencies } }
      },
    },
    getServerInfo: {
      handle: async () => ({
        status: 200,
        body: {
          name: 'slipway',
          server_version: SLIPWAY_VERSION,
          api_version: 'v1',
          server_time: new Date().toISOString(),
          instance_id: instanceId,
        },
      }),
    },
    getOpenApi: {
      async handle() {
        openApi ??= JSON.stringify(openApiDocument(SLIPWAY_VERSION))
        return { status: 200, json: openApi }
      },
    },
  }
}
