/** The examples of the API tell one story: Acme releases the storefront 1.1.0 to its web servers. These are its records. */
export const STORY = {
  tenant: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a01',
  environment: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a02',
  user: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a03',
  target: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a04',
  secondTarget: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a05',
  action: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a06',
  sequence: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a07',
  solution: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a08',
  deployment: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a09',
  formerDeployment: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a0a',
  pendingRequest: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a0b',
  step: '018f6b1e-6d1c-5c3a-9a51-0f1f5c1b2a0c',
  instance: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a0d',
  grant: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a0e',
  agent: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a0f',
  freeze: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a10',
  role: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a11',
  session: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a12',
  apiKey: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a13',
  webhook: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a14',
  delivery: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a15',
  auditRecord: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a16',
  logLine: '018f6b1e-6d1c-5c3a-9a51-0f1f5c1b2a17',
  request: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a18',
  serviceAccount: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a19',
  trust: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a1a',
  content: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
} as const

/** The moments of the story: the release of version 1.1.0. */
export const MOMENTS = {
  made: '2026-03-02T08:00:00.000Z',
  created: '2026-03-14T09:00:00.000Z',
  started: '2026-03-14T09:00:01.000Z',
  ended: '2026-03-14T09:00:43.000Z',
  later: '2026-03-14T10:00:00.000Z',
} as const

/** SqIds of records of the story. */
export const STORY_SQIDS = {
  action: 'SvC0FQi5',
  sequence: 'lU1ztv8s',
  solution: 'TuvaZG5Q',
  target: '2tPs18ZQ',
  tenant: 'zeNCSvUe',
  environment: 'RrXz6KLE',
} as const
