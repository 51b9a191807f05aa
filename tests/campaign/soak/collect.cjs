// Loaded before each service of a soak. Garbage is collected at a steady pace and the heap is compacted, so that the memory shows what is in
// use. Node.js alone lets the heap of a quiet process grow for an hour before its first full collection, and then keeps pages that are almost
// empty. After each collection the process writes what it uses to a file. A measurement at another moment would include garbage, and the
// moments of two timers drift apart: the memory of a process would seem to grow.
const fs = require('node:fs')
const path = require('node:path')
const v8 = require('node:v8')
const vm = require('node:vm')

const EVERY_MS = 5_000
/** V8 gives pages back in the background. */
const RELEASE_MS = 200
const file = path.join(process.env.SOAK_MEMORY_DIR, String(process.pid))

v8.setFlagsFromString('--expose-gc')
v8.setFlagsFromString('--compact-on-every-full-gc')
const collect = vm.runInNewContext('gc')

/** Without the pages of program files, which the kernel drops and reads again as it likes. */
function ownMemory() {
  const status = fs.readFileSync('/proc/self/status', 'utf8')
  const bytes = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024
  return bytes('RssAnon') + bytes('VmSwap')
}

setInterval(() => {
  collect()
  const { used_heap_size, external_memory } = v8.getHeapStatistics()
  const { code_and_metadata_size, bytecode_and_metadata_size } = v8.getHeapCodeStatistics()
  const code = code_and_metadata_size + bytecode_and_metadata_size
  setTimeout(() => {
    const memory = { own: ownMemory(), heap: used_heap_size - code, code, external: external_memory }
    fs.writeFileSync(`${file}.new`, JSON.stringify(memory))
    fs.renameSync(`${file}.new`, file)
  }, RELEASE_MS).unref()
}, EVERY_MS).unref()
