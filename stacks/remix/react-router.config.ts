import type { Config } from "@react-router/dev/config";

export default {
  routeDiscovery: { mode: "initial" }, // otherwise it answers /__manifest
} satisfies Config;
