import { expect, test } from '@jest/globals'
import { adviseConnection } from '../src/connection-advice.ts'

test.each([
  [
    'https://slip.example:8080',
    'ERR_SSL_WRONG_VERSION_NUMBER',
    'is it http, not https? Then its address is http://slip.',
  ],
  ['http://slip.example', 'UND_ERR_SOCKET', 'is it https, not http? Then its address is https://slip.example'],
  ['http://slip.example', 'ECONNREFUSED', 'slip.example at port 80'],
  ['http://slip.example:8081', 'ECONNREFUSED', 'slip.example:8081'],
  ['http://slp.example', 'ENOTFOUND', 'there is no host slp.example'],
  ['http://slip.example', 'timeout', 'no answer came in time'],
  ['http://slip.example', 'EOTHER', 'check that it runs'],
])('%s with %s has its own advice', (url, reason, advice) => {
  expect(adviseConnection(url, reason)).toContain(advice)
})
