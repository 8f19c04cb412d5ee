import { tpcbOf } from "./tpcb.ts";

tpcbOf(({ runtime }) => ["java", "rust"].includes(runtime));
