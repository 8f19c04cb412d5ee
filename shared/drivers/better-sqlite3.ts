import BetterSqlite3 from "better-sqlite3";
import type { OpenDatabase } from "../contract.ts";

const open: OpenDatabase = (file, access) => new BetterSqlite3(file, { readonly: access === "read" });
export default open;
