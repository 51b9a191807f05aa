// Loaded before each service of a soak. Garbage is collected at a steady pace, so that the heap shows what is in use. Node.js alone lets
// the heap of a quiet process grow for an hour before its first full collection, and a leak could not be told from that.
const v8 = require('node:v8')
const vm = require('node:vm')

const EVERY_MS = 5_000

v8.setFlagsFromString('--expose-gc')
setInterval(vm.runInNewContext('gc'), EVERY_MS).unref()
