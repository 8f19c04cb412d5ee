import { DatabaseSync } from "node:sqlite";
import type { OpenDatabase } from "../contract.ts";

const open: OpenDatabase = (file) => new DatabaseSync(file, { readOnly: true });
export default open;
