import { createContext } from "react-router";
import type { People } from "../../../shared/stores/people.ts";

/** What server.ts has opened, for loaders. */
export interface Opened {
  readonly people: People;
  readonly identity: () => Promise<object>;
}

export const opened = createContext<Opened>();
