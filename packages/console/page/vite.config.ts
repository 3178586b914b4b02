import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  // CONSOLE_PATH of the API.
  base: "/console/",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../dist/page",
    emptyOutDir: true,
    target: "es2023",
    // A data: address would need an exception in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
