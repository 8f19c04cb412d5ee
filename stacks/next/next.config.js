import { fileURLToPath } from "node:url";

/** @type {import("next").NextConfig} */
export default {
  compress: false,
  generateEtags: false,
  poweredByHeader: false,
  turbopack: { root: fileURLToPath(new URL("../..", import.meta.url)) }, // so that Next finds shared/
};
