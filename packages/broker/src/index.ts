// Sends and receives the messages of the services through RabbitMQ: topology, publishing, consuming with retries, request and
// reply, dead letters.

export type { ReplyEnvelope } from '@slipway/contracts'
export { type Broker, type BrokerOptions, connectBroker } from './broker.ts'
export { BrokerUnavailable, PoisonMessage, PublishError, type PublishFailure, RequestTimeout } from './errors.ts'
export { answerCommands, callHandler, handleEvents } from './handlers.ts'
export type { Handler } from './handling.ts'
export { measureQueues } from './measure-queues.ts'
export { type Delivery, HEADER, type OutgoingMessage } from './message.ts'
export { MAX_MESSAGE_BYTES } from './publisher.ts'
export type { RequestOptions } from './requester.ts'
export {
  type DurableQueue,
  declareTopology,
  deleteTopology,
  exchangeName,
  MAX_ATTEMPTS,
  queueName,
  WORK_QUEUES,
  type WorkQueue,
} from './topology.ts'
export { definitionsOf } from './users/definitions.ts'
export { BROKER_USERS, type BrokerUser, type Permissions, permissionsOf } from './users/rights.ts'
