import BetterSqlite3 from "better-sqlite3";
import type { OpenDatabase } from "../contract.ts";

const open: OpenDatabase = (file) => new BetterSqlite3(file, { readonly: true });
export default open;
