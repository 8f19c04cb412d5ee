import type { Config } from "@react-router/dev/config";

export default {
  routeDiscovery: { mode: "initial" }, // else it answers /__manifest
} satisfies Config;
