/**
 * How the studio and GraphiQL are built: two pages, one folder of assets, nothing inline.
 *
 * Invariants
 * - No script stands in a page itself, so that the pages' content security policy can refuse all of them.
 */
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

const server = 'http://127.0.0.1:8787';

export default defineConfig({
  plugins: [react()],
  build: {
    // Monaco, inside GraphiQL, is what is large; the studio does not load it.
    chunkSizeWarningLimit: 4000,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: ['index.html', 'graphiql/index.html'],
      onLog(level, log, show) {
        // GraphiQL speaks to a compiler that is not used here, in every one of its files.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') show(level, log);
      },
    },
  },
  test: {
    globalSetup: './vitest.setup.mjs',
  },
  server: {
    proxy: {
      '/graphql': { target: server, ws: true },
      '/sync': { target: server, ws: true },
      '/files': { target: server },
      '/uploads': { target: server },
    },
  },
});
