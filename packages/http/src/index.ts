/**
 * Serving HTTP: routes, bodies, the context of a request, refusals and the addresses of clients. `@slipway/http/limits` has the
 * limits of clients, which need Redis.
 */
export { type Answer, sendAnswer, sendRefusal } from './answer.ts'
export { bytesOf, checker, isObject, type JsonBody, jsonReader, readJson } from './body.ts'
export { type AddressRange, parseRange } from './client-address.ts'
export { answerStream, Batches } from './json-stream.ts'
export { type KeyPairFiles, readKeyPair } from './key-pair.ts'
export { type ListeningServer, listen } from './listen.ts'
export { bearerOf, createListener } from './listener.ts'
export { type AnyRefusal, isRefusal, Refusal, refusalOf } from './refusal.ts'
export type { HttpCall, Route } from './routes.ts'
export { reportFailedHandshakes } from './tls-server.ts'
