import type { LoaderFunctionArgs } from "react-router";
import { json, opened } from "../answers.ts";

export const loader = async ({ context }: LoaderFunctionArgs) => json(await context.get(opened).identity());
