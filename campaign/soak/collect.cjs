// Loaded before each service of a soak. Garbage is collected at a steady pace and the heap is compacted, so that the memory shows what is in
// use. Node.js alone lets the heap of a quiet process grow for an hour before its first full collection, and then keeps pages that are almost
// empty. After each collection the process writes what it uses to a file.
const fs = require('node:fs')
const path = require('node:path')
const v8 = require('node:v8')
const vm = require('node:vm')

const EVERY_MS = 5_000
const file = path.join(process.env.SOAK_MEMORY_DIR, String(process.pid))

v8.setFlagsFromString('--expose-gc')
v8.setFlagsFromString('--compact-on-every-full-gc')
const collect = vm.runInNewContext('gc')

setInterval(() => {
  collect()
  const { used_heap_size, external_memory } = v8.getHeapStatistics()
  const { code_and_metadata_size, bytecode_and_metadata_size } = v8.getHeapCodeStatistics()
  const code = code_and_metadata_size + bytecode_and_metadata_size
  fs.writeFileSync(`${file}.new`, JSON.stringify({ heap: used_heap_size - code, code, external: external_memory }))
  fs.renameSync(`${file}.new`, file)
}, EVERY_MS).unref()
