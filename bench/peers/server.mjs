// What one would write without Slipway: Express and Prisma, the same rows, no authentication, no queue.
import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { createDatabase } from '../../packages/database/dist/index.js'

const express = createRequire(new URL('../../services/gateway/package.json', import.meta.url))('express')
const database = createDatabase({ url: process.env.DATABASE_URL, applicationName: 'bench peer', tenant: '*' })
const prisma = await database.prisma()
const app = express()
app.use(express.json())

app.post('/deployments', async (request, response) => {
  const id = randomUUID()
  const source = {
    source_type: 'action',
    source_id: request.body.action_id,
    source_name: 'bench',
    source_version: '1.0.0',
  }
  const [deployment] = await prisma.$transaction([
    prisma.deployment.create({
      data: {
        id,
        state: 'running',
        ...source,
        plan_head: request.body,
        selection: {},
        total_steps: 1,
        started_at: new Date(),
      },
    }),
    prisma.auditRecord.create({
      data: { action: 'deployment.create', resource_type: 'deployment', resource_id: id, details: {} },
    }),
    prisma.outboxMessage.create({
      data: { message_id: randomUUID(), exchange: 'none', type: 'bench', body: { deployment_id: id } },
    }),
  ])
  response.status(201).json(deployment)
})

app.get('/deployments', async (request, response) => {
  const [page, limit] = [Number(request.query.page ?? 1), 50]
  const [total, data] = await Promise.all([
    prisma.deployment.count(),
    prisma.deployment.findMany({
      orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
      skip: (page - 1) * limit,
      take: limit,
    }),
  ])
  response.json({ data, meta: { total, page, limit, total_pages: Math.ceil(total / limit) } })
})

const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.on('SIGTERM', () => process.exit(0))
