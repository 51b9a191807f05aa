// What tests share: databases, servers, a whole suite in processes, records, invariants.

export { type AgentProcess, enrolAgent, startAgent } from './agent.ts'
export { type Answer, type Api, apiWithToken, loginToSuite } from './api.ts'
export { isLongRun, roundsOf, SLOW, WAIT_MS } from './bounds.ts'
export { openTestBroker } from './broker.ts'
export { makeCertificates, type TestCertificates, type TestCertificatesOptions } from './certificates.ts'
export {
  connectTo,
  createTestDatabase,
  databaseAs,
  type OpenTestDatabase,
  openPool,
  openTestDatabase,
  sqlOf,
  TEST_ROLE_PREFIX,
  type TestDatabase,
  valuesOf,
} from './database.ts'
export { openChangeStream, openLogStream, readStream, type StreamMessage, sseToken } from './event-stream.ts'
export {
  addLocalTargets,
  createAction,
  createLocalTarget,
  createLocalTargets,
  createSequence,
  createUser,
  createWithRetries,
  deploymentEnd,
  dispatchedDeployment,
  isUnavailable,
  type LogEntry,
  logHistory,
  logPages,
} from './factories.ts'
export { whileCommitsFail } from './failing-commits.ts'
export { type RouteHandler, sendJson, startFakeServer } from './fake-server.ts'
export { createGate, type Gate } from './gate.ts'
export { violatedInvariants } from './invariants.ts'
export { addJoinToken } from './join-token.ts'
export { keptLog, testLogger } from './logger.ts'
export { repeatMessages, sendGarbage } from './message-noise.ts'
export { ownMetric, parseMetrics, raised } from './metrics.ts'
export {
  deadLetterContents,
  loseMessages,
  queueLengths,
  removeNamespace,
  testNamespace,
  wipeBroker,
} from './namespace.ts'
export { createNetworks, type Network, networksProblem } from './networks.ts'
export { addPending, addPendingRequests } from './pending-requests.ts'
export { freePort } from './ports.ts'
export { type PrivateRedis, startRedis } from './redis-server.ts'
export { repositoryFiles, repositoryRoot } from './repository.ts'
export { redisUrlOf, serverUrl } from './servers.ts'
export { openTenant, type SharedSuite, startSharedSuite, type TestTenant } from './shared-suite.ts'
export { newPrivateKey, type Sshd, startSshd } from './sshd.ts'
export { loadStatements, statementProblems } from './statement-check.ts'
export {
  makeLoginCheap,
  SERVICES,
  type ServiceName,
  type Settings,
  type Suite,
  type SuiteOptions,
  startSuite,
} from './suite.ts'
export { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'
export { type IssuerKey, makeIssuerKey, startTokenIssuer, TOKEN_ALGORITHMS, type TokenIssuer } from './token-issuer.ts'
export { steadyClock, totp } from './totp.ts'
export { type CollectedSpan, startTraceCollector, type TraceCollector } from './trace-collector.ts'
export { addAdmin, addUser } from './users.ts'
export { OTHER_VERSIONS } from './versions.ts'
export { completeLines, type WaitOptions, waitFor, waitForValue } from './waiting.ts'
export { expectedSignature, type Receiver, startReceiver } from './webhook-receiver.ts'
