// How esbuild makes one file of a program for Node: of services and the command line (bundle.mjs), and of the package
// that people install (package-cli.mjs, package-client.mjs).

// CommonJS packages use these names, which an ES module does not have.
const BANNER = `import { createRequire as $createRequire } from 'node:module'
const require = $createRequire(import.meta.url), $filename = import.meta.filename, $dirname = import.meta.dirname`

// An ES module in the bundle may declare names such as __dirname itself, so the banner must not.
const DEFINE = { __filename: '$filename', __dirname: '$dirname' }

export const NODE_BUNDLE = {
  bundle: true,
  // Keeps what is loaded by import() in separate files. Prisma's query compiler alone has 4 MB.
  splitting: true,
  chunkNames: 'bundle-[hash]',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  banner: { js: BANNER },
  logLevel: 'warning',
  // With this, esbuild removes calls of empty functions: the failpoints (packages/runtime/src/failpoint.ts).
  minifySyntax: true,
  define: { ...DEFINE, 'globalThis.SLIPWAY_FAILPOINTS': 'false' },
}

/** `globalThis.SLIPWAY_FAILPOINTS` remains true, so the services kill themselves where SLIPWAY_FAILPOINT says. */
export const NODE_BUNDLE_WITH_FAILPOINTS = {
  ...NODE_BUNDLE,
  define: { ...DEFINE, 'globalThis.SLIPWAY_FAILPOINTS': 'true' },
}
