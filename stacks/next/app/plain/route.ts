export { DELETE, OPTIONS, PATCH, POST, PUT } from "@/lib/missing.ts";

export const GET = () => Response.json({ message: "Hello, world!" });
