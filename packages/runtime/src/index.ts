// What every service needs to run: start and stop, configuration, logs, metrics, traces, health, encryption, outgoing HTTP calls.
// `redis` has an export of its own, so that instances and agents do not load its client.

export {
  type Administration,
  onceReachable,
  optionalSetting,
  requiredSetting,
  runAdministration,
} from './administration.ts'
export { syncFolder, writeFileAtomically } from './atomic-file.ts'
export { ConfigurationError, type ConfigurationProblem, loadConfig } from './config.ts'
export { type Context, currentContext, withContext, withoutContext } from './context.ts'
export { isDevelopmentSecret, refuseDevelopmentSecrets } from './development.ts'
export { failpoint } from './failpoint.ts'
export { FAILPOINTS } from './failpoints.ts'
export { Health, type HealthReport, startManagementServer } from './health.ts'
export { uuidv7 } from './ids.ts'
export { type ListenAddress, listenOn } from './listen.ts'
export { createLogger, type Logger } from './logger.ts'
export { type Counting, counter, exposition, histogram, measure, type Timing } from './metrics/registry.ts'
export { BridgeConnections } from './outbound/bridge-connections.ts'
export { BridgeTlsError } from './outbound/bridge-tls-error.ts'
export {
  checkedAddresses,
  DestinationRefused,
  type DestinationRules,
  type Resolve,
  systemLookup,
  urlProblem,
} from './outbound/destination.ts'
export type { Answer } from './outbound/exchange.ts'
export { getOutbound, postOutbound } from './outbound/outbound.ts'
export { CHECK_FILES_MS, type FileSetting, pemCertificates } from './outbound/trusted-roots.ts'
export { redactText } from './redaction.ts'
export {
  constantTimeEqual,
  hashToken,
  KeyRing,
  parseKeys,
  randomToken,
  SecretError,
  sealedKeyId,
} from './secrets.ts'
export { FairSemaphore, LineFull, NoTurn, Semaphore } from './semaphore.ts'
export { runService, type ServiceContext, serviceConfig } from './service.ts'
export {
  DEFAULT_USER_PREFIX,
  exportServiceUrls,
  serviceUrls,
  serviceUrlVariable,
  serviceUser,
} from './service-users.ts'
export { createTicker, type Ticker } from './ticker.ts'
export { after, fullJitter, sleep, TIMED_OUT, withTimeout } from './timing.ts'
export { failSpan, forRequest, type Span, SpanKind, traced } from './tracing/spans.ts'
export { currentTraceparent, parseTraceparent } from './tracing/trace-context.ts'
export {
  choiceVariable,
  commonConfig,
  integerVariable,
  type LogLevel,
  portVariable,
  secretVariable,
  urlVariable,
} from './variables.ts'
export { COMPATIBLE_VERSION, isCompatible, isSameMajor, SLIPWAY_VERSION } from './version.ts'
