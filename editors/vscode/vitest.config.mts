import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { include: ['test/**/*.test.ts'] },
  // The editor's own module is there in the editor alone.
  resolve: { alias: { vscode: new URL('test/vscode.ts', import.meta.url).pathname } },
});
