import { startSuite } from '@slipway/testing'
const suite=await startSuite()
await new Promise(r=>setTimeout(r,60000))
await suite.stop()
