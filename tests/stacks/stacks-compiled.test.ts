import { contractOf } from "./contract.ts";

contractOf((runtime) => ["go", "java", "rust"].includes(runtime));
