import { fileURLToPath } from "node:url";

/** @type {import("next").NextConfig} */
export default {
  compress: false,
  generateEtags: false,
  poweredByHeader: false,
  skipTrailingSlashRedirect: true,
  rewrites: async () => ({ beforeFiles: [{ source: "/:path+/", destination: "/no/such/path" }] }),
  turbopack: { root: fileURLToPath(new URL("../..", import.meta.url)) }, // so that shared/ is found
};
