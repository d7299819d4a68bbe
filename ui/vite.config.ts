import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type ProxyOptions } from 'vite';

/** Proxies the API to a running `hookmitt serve` during development; the browser never sees its token. */
function devApi(): Record<string, ProxyOptions> {
  const target = process.env['HOOKMITT_DEV_API'] ?? 'http://127.0.0.1:4401';
  const token = process.env['HOOKMITT_DEV_TOKEN'] ?? '';
  const headers = { authorization: `Bearer ${token}`, origin: target };
  const proxied = { target, changeOrigin: true, headers };
  return { '/api': proxied, '/healthz': proxied };
}

export default defineConfig({
  plugins: [svelte()],
  server: { host: '127.0.0.1', port: 1420, strictPort: true, proxy: devApi() },
  build: {
    target: ['safari16', 'es2022'],
    assetsDir: 'assets',
    assetsInlineLimit: 0, // the page's policy allows no data: URLs
    modulePreload: { polyfill: false },
    rollupOptions: {
      output: {
        // The editor has a chunk name of its own, so that its size can be reported separately.
        chunkFileNames: ({ moduleIds }) =>
          `assets/${moduleIds.some((id) => id.includes('@codemirror/view')) ? 'editor' : '[name]'}-[hash].js`,
      },
    },
    sourcemap: false,
    reportCompressedSize: false,
  },
  test: { environment: 'node', include: ['src/**/*.test.ts'] },
} as Parameters<typeof defineConfig>[0]);
