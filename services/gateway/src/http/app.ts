import { notFound } from '@slipway/domain'
import { type AddressRange, createListener } from '@slipway/http'
import type { Logger } from '@slipway/runtime'
import express, { type Express, type Request, type Response } from 'express'
import helmet from 'helmet'
import { answerConsole, CONSOLE_ROUTE, isForConsole } from '../console/page.ts'
import { manualRoutes } from '../docs/manual.ts'
import { referenceRoutes } from '../docs/reference.ts'
import { problemOf } from '../problems.ts'
import { createRoutes, type RouteOptions } from './routes.ts'

interface AppOptions extends RouteOptions {
  logger: Logger
  trustedProxies: AddressRange[]
}

/** The API, its documentation and the console. Express serves the files of the two pages. */
export function createApp(options: AppOptions): Express {
  const { logger, limits, trustedProxies } = options
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.use(
    helmet({
      // For data. The pages set policies of their own.
      contentSecurityPolicy: {
        useDefaults: false,
        directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
      },
    }),
  )
  const listener = createListener<Request, Response>({
    routes: [...createRoutes(options), ...referenceRoutes, ...manualRoutes()],
    async otherwise(call) {
      if (!isForConsole(call.request)) throw notFound('This path')
      call.route = CONSOLE_ROUTE
      await answerConsole(call.request, call.response)
      return null
    },
    logger,
    callers: 'users',
    refusalOf: problemOf,
    admits: ({ clientIp }) => limits.general.admits(clientIp),
    trustedProxies,
  })
  app.use((request: Request, response: Response) => listener(request, response))
  return app
}
