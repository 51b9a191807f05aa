// Jest gives each test file a virtual machine of its own and loads every package into it again: some four seconds of
// CPU a file here. This runtime lets Node load them, once a worker. What a test changes in the process it must change
// back; modules cannot be mocked.
const { pathToFileURL } = require('node:url')
const Runtime = require('jest-runtime').default

const GLOBALS = Symbol.for('slipway.jest.globals')
/** Where jest-circus keeps what is called at each event, and the time that a test may take. */
const HANDLERS = Symbol.for('EVENT_HANDLERS')
const TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL')

module.exports = class NativeRuntime extends Runtime {
  /** Asked for jest-circus alone, which keeps the tests of one file: each file gets a new one. */
  requireInternalModule(path) {
    delete globalThis[HANDLERS]
    delete globalThis[TIMEOUT]
    delete require.cache[path]
    return require(path)
  }

  setGlobalsForRuntime(globals) {
    const jest = { setTimeout: (ms) => (globalThis[TIMEOUT] = ms) }
    globalThis[GLOBALS] = { ...globals, jest }
  }

  unstable_shouldLoadAsEsm() {
    return true
  }

  async unstable_importModule(path) {
    await import(pathToFileURL(path).href)
  }
}
