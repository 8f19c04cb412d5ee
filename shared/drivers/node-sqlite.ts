import { DatabaseSync } from "node:sqlite";
import type { OpenDatabase } from "../contract.ts";

const open: OpenDatabase = (file, access) => new DatabaseSync(file, { readOnly: access === "read" });
export default open;
