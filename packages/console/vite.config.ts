import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compression } from 'vite-plugin-compression2'

export default defineConfig({
  plugins: [react(), compression({ algorithms: ['gzip', 'brotliCompress'], threshold: 1_000 })],
  // The sources of the client: no build before this one.
  resolve: { conditions: ['@slipway/source', 'browser', 'module', 'import'] },
  build: {
    target: 'es2023',
    sourcemap: false,
    modulePreload: { polyfill: false },
    // Vite does not ask again for the style of a screen that did not arrive.
    cssCodeSplit: false,
    // The frame with the first screen, and the libraries below it, are a file each: fewer requests.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            {
              name: 'libraries',
              test: /node_modules\/(react|react-dom|scheduler|@tanstack\/(?!react-virtual|virtual)[\w-]+)\//,
              priority: 2,
            },
            { name: 'console', test: /\/src\/main\.tsx$/, priority: 1 },
          ],
        },
      },
    },
  },
  // `vite dev`: where the API is.
  server: { proxy: { '/api': process.env['SLIPWAY_URL'] ?? 'http://127.0.0.1:8080' } },
})
