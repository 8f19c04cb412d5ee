export { DELETE, OPTIONS, PATCH, POST, PUT } from "@/lib/missing.ts";

export const GET = async () => Response.json(await opened.identity());
