// Loaded before jest, in it and in its workers: tests and sources are TypeScript, which Node alone does not run.
import { register } from 'node:module'

register('./loader.mjs', import.meta.url)
