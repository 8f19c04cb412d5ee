import { Database } from "bun:sqlite";
import type { OpenDatabase } from "../contract.ts";

const open: OpenDatabase = (file) => new Database(file, { readonly: true });
export default open;
