import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type HtmlTagDescriptor, type Plugin, type ProxyOptions } from 'vite';

/** Proxies the API to a running `hookmitt serve` during development; the browser never sees its token. */
function devApi(): Record<string, ProxyOptions> {
  const target = process.env['HOOKMITT_DEV_API'] ?? 'http://127.0.0.1:4401';
  const token = process.env['HOOKMITT_DEV_TOKEN'] ?? '';
  const headers = { authorization: `Bearer ${token}`, origin: target };
  const proxied = { target, changeOrigin: true, headers };
  return { '/api': proxied, '/healthz': proxied };
}

/** Has the browser load the page itself along with `main.ts`, which asks for the first rows and only then imports it. */
function preloadStart(): Plugin {
  return {
    name: 'preload-start',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle }) {
        const chunks = Object.values(bundle ?? {}).filter((one) => one.type === 'chunk');
        const start = chunks.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith('/src/start.ts')));
        const needed = chunks.filter((one) => one === start || start?.imports.includes(one.fileName));
        const link = (rel: string, file: string): HtmlTagDescriptor[] =>
          html.includes(`/${file}"`)
            ? []
            : [{ tag: 'link', attrs: { rel, crossorigin: true, href: `/${file}` }, injectTo: 'head' }];
        const styles = new Set(needed.flatMap(({ viteMetadata }) => [...(viteMetadata?.importedCss ?? [])]));
        return [
          ...needed.flatMap(({ fileName }) => link('modulepreload', fileName)),
          ...[...styles].flatMap((file) => link('stylesheet', file)),
        ];
      },
    },
  };
}

export default defineConfig({
  plugins: [svelte(), preloadStart()],
  server: { host: '127.0.0.1', port: 1420, strictPort: true, proxy: devApi() },
  build: {
    target: ['safari16', 'es2022'],
    assetsDir: 'assets',
    assetsInlineLimit: 0, // the page's policy allows no data: URLs
    modulePreload: { polyfill: false },
    rollupOptions: {
      output: {
        // Few files: what the page begins with is one, and so is what its other screens have in common.
        codeSplitting: {
          groups: [
            { name: 'first', test: /src[\\/]main\.ts$/, priority: 3 },
            { name: 'page', test: /src[\\/]start\.ts$/, priority: 2 },
            {
              name: 'parts',
              test: /^(?!.*(codemirror|lezer|src[\\/]editor))/,
              minShareCount: 2,
              priority: 1,
            },
          ],
        },
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
