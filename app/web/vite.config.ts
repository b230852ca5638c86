import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  build: { target: "es2022", modulePreload: false, assetsInlineLimit: 0, reportCompressedSize: false },
});
