import { Database } from "bun:sqlite";
import type { OpenDatabase } from "../contract.ts";

const open: OpenDatabase = (file, access) =>
  new Database(file, access === "read" ? { readonly: true } : { readwrite: true, create: true });
export default open;
